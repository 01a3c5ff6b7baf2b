"""An agent of one's own that takes a model."""


class Talker:
    name = "talker"

    def __init__(self, model, x=0):
        self.model, self.x = model, x

    async def solve(self, bench):
        await bench.attempt(self.model)
