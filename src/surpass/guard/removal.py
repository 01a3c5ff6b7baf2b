"""Delete what a candidate left behind, however deep it is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

__all__ = ["remove_tree"]


def remove_tree(path: Path) -> None:
    """Delete a folder and all below it; nothing happens when it is not there. Links are not followed.

    `shutil.rmtree` recurses once a level, so a folder a thousand levels deep would end the harness; `rm` does not.

    Raises:
        OSError: something could not be deleted.
    """
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except (RecursionError, PermissionError):
        # A candidate may take away our own permission to look into its folders.
        subprocess.run(["chmod", "-R", "u+rwx", "--", str(path)], capture_output=True, check=False)
        done = subprocess.run(["rm", "-rf", "--", str(path)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise OSError(done.stderr.strip()) from None
