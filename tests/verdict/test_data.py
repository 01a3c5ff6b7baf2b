"""Hidden data: made once, whoever asks first, and whole for everybody."""

from concurrent.futures import ThreadPoolExecutor

from surpass.task import Tier
from surpass.verdict.data import prepare


def test_several_that_prepare_at_once_get_the_same_whole_data(make_task, sandbox, tmp_path):
    task = make_task()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: prepare(task, Tier.FEEDBACK, 7, tmp_path / "data", sandbox), range(8)))
    assert len(set(made)) == 1
    assert (made[0].inputs / "values.npy").is_file()
    assert (made[0].truth / "mean.npy").is_file()
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["feedback"]
