"""What the package's scripts are, without running them."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
from collections.abc import Iterator

from surpass.check._types import Problem, Remark, Report, Skip
from surpass.check.static.reading import parse, python_files, text_of
from surpass.task import Task, TaskError, package_files, read_document
from surpass.task.load import EvilSolution

__all__ = [
    "entry_points_fit",
    "evidence_matches_oracle",
    "evil_solutions_are_declared",
    "imports_are_declared",
    "reads_candidates_safely",
    "requirements_are_installed",
    "scripts_parse",
    "uses_no_network",
]

_ENTRY_POINTS = {
    "evaluator.py": ("evaluate", ("outputs", "truth")),
    "generate.py": ("generate", ("tier", "seed", "inputs", "truth")),
    "driver.py": ("drive", ("inputs", "outputs", "send", "receive")),
}
_NETWORK = {"socket", "urllib", "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "urllib3"}
_DANGEROUS_CALLS = {"eval", "exec", "compile", "__import__"}
_DANGEROUS_MODULES = {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "subprocess"}
_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LEAST_EVIL = 3


def scripts_parse(task: Task) -> Report:
    """S12: every script but the evil ones is valid Python."""
    for path in python_files(task.root, "private", "public", "solutions"):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            yield Problem(f"{path.relative_to(task.root).as_posix()} does not parse: {error}")


def entry_points_fit(task: Task) -> Report:
    """S09: `evaluate`, `generate` and `drive` can be called the way the harness calls them."""
    for script, (name, parameters) in _ENTRY_POINTS.items():
        path = task.private / script
        if not path.is_file():
            continue
        function = next((n for n in parse(path).body if isinstance(n, ast.FunctionDef) and n.name == name), None)
        if function is None:
            yield Problem(f"private/{script} defines no function {name}({', '.join(parameters)})")
        elif problem := _misfit(function, parameters):
            yield Problem(f"private/{script}: {name}() {problem}; it is called with ({', '.join(parameters)})")


def _misfit(function: ast.FunctionDef, parameters: tuple[str, ...]) -> str:
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if tuple(positional[: len(parameters)]) != parameters and function.args.vararg is None:
        return f"takes ({', '.join(positional)})"
    if len(positional) - len(function.args.defaults) > len(parameters):
        return "needs more arguments"
    if any(default is None for default in function.args.kw_defaults):
        return "has keyword arguments without a default"
    return ""


def reads_candidates_safely(task: Task) -> Report:
    """S31: evaluator and driver read through the guard and run nothing."""
    for script in ("evaluator.py", "driver.py"):
        path = task.private / script
        if not path.is_file():
            continue
        tree = parse(path)
        if script == "evaluator.py" and "surpass" not in _imported(tree):
            yield Problem(f"private/{script} does not use the readers of surpass.guard")
        for module in sorted(_imported(tree) & _DANGEROUS_MODULES):
            yield Problem(f"private/{script} imports {module}")
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name) and node.func.id in _DANGEROUS_CALLS:
                yield Problem(f"private/{script}:{node.lineno} calls {node.func.id}()")
            for keyword in node.keywords:
                if keyword.arg == "allow_pickle" and getattr(keyword.value, "value", True) is not False:
                    yield Problem(f"private/{script}:{node.lineno} allows pickles")


def uses_no_network(task: Task) -> Report:
    """S25: neither asks for a network nor tries to use one."""
    if task.spec.environment.network:
        yield Problem("environment.network is true", "set it to false and ship or generate what is needed")
    for path in python_files(task.root, "private", "public", "solutions"):
        for module in sorted(_imported(parse(path)) & _NETWORK):
            yield Problem(f"{path.relative_to(task.root).as_posix()} imports {module}")


def requirements_are_installed(task: Task) -> Report:
    """S22: what the sandbox offers is what this environment has."""
    from packaging.requirements import InvalidRequirement, Requirement

    for text in task.spec.environment.requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            yield Problem(f"environment.requirements: '{text}' is not a requirement", "write it as pip takes it")
            continue
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            yield Problem(f"environment.requirements: {requirement.name} is not installed")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            yield Problem(f"environment.requirements: {text} wanted, {version} installed")
    yield Remark(", ".join(task.spec.environment.requirements) or "no requirements")


def imports_are_declared(task: Task) -> Report:
    """S23: whatever a script imports is standard, its neighbour, or required."""
    providers = importlib.metadata.packages_distributions()
    declared = {_plain(name) for name in task.spec.environment.distributions}
    for path in python_files(task.root, "private", "public", "solutions"):
        neighbours = {p.stem for folder in (path.parent, task.start, task.public) for p in folder.glob("*")}
        # The harness itself is at hand in private/ only, and there nothing but its guard.
        own = {"surpass"} if task.private in path.parents else set()
        for module in sorted(_imported(parse(path)) - set(sys.stdlib_module_names) - neighbours - own):
            if not {_plain(name) for name in providers.get(module, [module])} & declared:
                where = path.relative_to(task.root).as_posix()
                yield Problem(f"{where} imports {module}, which environment.requirements does not list")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def evidence_matches_oracle(task: Task) -> Report:
    """S18: the reference contains every step of the method that a pattern looks for."""
    source = "\n".join(
        text_of(path)
        for folder in (task.start, task.root / "solutions" / "oracle")
        for path in package_files(folder)
        if folder != task.start or not (task.root / "solutions" / "oracle" / path.relative_to(folder)).is_file()
    )
    looked = 0
    for step in task.spec.step:
        if step.evidence:
            looked += 1
            if re.search(step.evidence, source, re.MULTILINE) is None:
                yield Problem(f"step '{step.id}': nothing in the oracle's source matches its evidence")
    if not task.spec.step:
        raise Skip("the task lists no steps")
    yield Remark(f"{looked} of {len(task.spec.step)} steps have a pattern")


def evil_solutions_are_declared(task: Task) -> Report:
    """S24: at least three submissions that must be rejected, each saying why and with which code."""
    folders = sorted((task.root / "solutions").glob("evil-*"))
    if task.times_itself and not folders:
        yield Remark(
            "the task has no defences of its own: what its script reports is checked by surpass, or not at all"
        )
        return
    if len(folders) < _LEAST_EVIL:
        yield Problem(f"there are {len(folders)} evil solutions, at least {_LEAST_EVIL} are wanted")
    for folder in folders:
        try:
            evil = read_document(folder / "evil.toml", EvilSolution)
        except TaskError as error:
            yield Problem(str(error), "write why and expect into evil.toml")
            continue
        if not evil.why.strip():
            yield Problem(f"{folder.name}/evil.toml does not say why")
        if not _CODE.fullmatch(evil.expect):
            yield Problem(f"{folder.name}/evil.toml expects '{evil.expect}', which is not a code such as 'not-finite'")


def _imported(tree: ast.AST) -> set[str]:
    return {name.partition(".")[0] for name in _modules(tree)}


def _modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
