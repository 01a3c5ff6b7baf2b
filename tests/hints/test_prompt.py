"""The prompt grows with the level and never names what only the host knows."""

import pytest

from surpass.hints import LEVELS, HintError, build_prompt


def test_each_level_contains_the_one_below(make_task):
    task = make_task()
    prompts = [build_prompt(task, level) for level in LEVELS]
    assert "Average the values" not in prompts[0]
    assert "Average the values" in prompts[1]
    assert "arithmetic mean" not in prompts[1]
    assert "arithmetic mean" in prompts[2]
    assert all("3 attempts" in prompt and "0 is the start" in prompt for prompt in prompts)


def test_feedback_rules_follow_the_task(make_task):
    task = make_task()
    toml = (task.root / "task.toml").read_text().replace('detail = "score"', 'detail = "none"')
    assert "nothing but that it was taken" in build_prompt(make_task({"task.toml": toml}), "minimal")


def test_an_unknown_level_is_explained(make_task):
    with pytest.raises(HintError, match="did you mean 'method'"):
        build_prompt(make_task(), "methods")
