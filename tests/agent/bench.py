"""A workbench over a folder and a real sandbox, for what needs no judge: attempts are counted and answered as told."""

from pathlib import Path, PurePosixPath

from surpass.agent import AttemptRecord, BudgetExhausted, Feedback
from surpass.sandbox import Limits, Mount

WORKSPACE = PurePosixPath("/workspace")


class FolderBench:
    def __init__(self, folder: Path, sandbox, answers=(), unsealed=()):
        self.prompt, self.seed = "Do it.", 1
        self._folder, self._sandbox, self._answers = folder, sandbox, list(answers)
        self.attempts, self.memory, self.said = [], [], []
        self.restored, self._sealed, self._unsealed = [], {0: {}}, set(unsealed)
        self.records = folder.with_name("records")
        folder.mkdir(parents=True, exist_ok=True)
        sandbox.adopt(folder)

    def seconds_left(self):
        return 90.0

    def attempts_left(self):
        return len(self._answers) - len(self.attempts)

    async def exec(self, command, *, timeout_s=None):
        return self._sandbox.run(
            command,
            mounts=[Mount(self._folder, WORKSPACE, writable=True)],
            env={},
            cwd=WORKSPACE,
            limits=Limits(wall_s=timeout_s or 60.0),
        )

    async def read(self, path):
        return (self._folder / path).read_bytes()

    async def write(self, path, content):
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / path).write_bytes(content)
        self._sandbox.adopt(self._folder)

    async def attempt(self, note=""):
        if not self.attempts_left():
            raise BudgetExhausted("no attempt is left")
        accepted, score, code = self._answers[len(self.attempts)]
        feedback = Feedback(len(self.attempts) + 1, accepted, score, code)
        self.attempts.append(AttemptRecord(feedback, note))
        if feedback.attempt not in self._unsealed:
            self._sealed[feedback.attempt] = {path.name: path.read_bytes() for path in self._folder.iterdir()}
        return feedback

    async def restore(self, attempt):
        files = self._sealed[attempt]
        self.restored.append(attempt)
        for path in self._folder.iterdir():
            path.unlink()
        for name, content in files.items():
            await self.write(name, content)

    def remember(self, entry):
        self.memory.append(dict(entry))

    def log(self, message):
        self.said.append(message)
