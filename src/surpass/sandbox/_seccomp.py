"""The system call filter: everything that has ever been a way out and that a computation never needs."""

from __future__ import annotations

import errno
import functools
import os
from typing import Any

__all__ = ["filter_program"]

_DENIED = (
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise", "mount",
    "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount",
    "fspick", "mount_setattr", "open_tree_attr", "unshare", "setns", "keyctl", "add_key", "request_key",
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "open_by_handle_at",
    "name_to_handle_at", "syslog", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "fanotify_init", "lookup_dcookie", "vhangup", "iopl", "ioperm", "modify_ldt", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
    "sched_setaffinity",  # a run is timed beside others on one core; it may not leave for a quieter one
)  # fmt: skip

# Numbers for calls that an older libseccomp does not know; from 424 on they are the same on every machine.
_NUMBERS = {
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435, "pidfd_getfd": 438,
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "open_tree_attr": 467,
}  # fmt: skip

_NEW_NAMESPACE = (0x00000080, 0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_INET6, _FIRST_OTHER_FAMILY, _AF_NETLINK, _NETLINK_ROUTE = 10, 11, 16, 0


@functools.cache
def filter_program(*, interfaces: bool = False) -> bytes | None:
    """The filter as BPF instructions, or None when libseccomp is missing. Made once a process.

    `interfaces` lets route netlink sockets through, by which `getifaddrs` asks for the network interfaces.

    Denied calls fail with EPERM. `clone3`, whose flags lie in memory where no filter can see them, fails with
    ENOSYS, upon which C libraries use `clone`. A call through another architecture's table kills the process.
    """
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError):  # pyseccomp itself, or the library below it
        return None
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    rules.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)
    for name in _DENIED:
        number = _resolve(pyseccomp, name)
        if number is not None:
            rules.add_rule(pyseccomp.ERRNO(errno.EPERM), number)
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), _resolve(pyseccomp, "clone3"))
    _conditional_rules(pyseccomp, rules, interfaces)
    return _export(rules)


def _resolve(pyseccomp: Any, name: str) -> int | None:
    try:
        number = int(pyseccomp.resolve_syscall(pyseccomp.system_arch(), name))
    except (ValueError, RuntimeError, OSError):
        number = -1
    # Negative numbers are libseccomp's placeholders for calls that this architecture lacks.
    return number if number >= 0 else _NUMBERS.get(name)


def _conditional_rules(pyseccomp: Any, rules: Any, interfaces: bool) -> None:
    deny = pyseccomp.ERRNO(errno.EPERM)

    def masked(index: int, mask: int, value: int) -> Any:
        return pyseccomp.Arg(index, pyseccomp.MASKED_EQ, mask, value)

    for flag in _NEW_NAMESPACE:
        rules.add_rule(deny, "clone", masked(0, flag, flag))
    for request in (_TIOCSTI, _TIOCLINUX):
        # The kernel looks at 32 bits of the request; comparing all 64 would let a larger number through.
        rules.add_rule(deny, "ioctl", masked(1, 0xFFFFFFFF, request))
    for call in ("socket", "socketpair"):
        families = [0, *range(3, _AF_INET6)]  # 1 is UNIX, 2 INET; a large number fails the GE rule below
        first_other = _FIRST_OTHER_FAMILY
        if interfaces:
            families += range(_FIRST_OTHER_FAMILY, _AF_NETLINK)
            first_other = _AF_NETLINK + 1
            family = pyseccomp.Arg(0, pyseccomp.EQ, _AF_NETLINK)
            rules.add_rule(deny, call, family, pyseccomp.Arg(2, pyseccomp.NE, _NETLINK_ROUTE))
        for number in families:
            rules.add_rule(deny, call, pyseccomp.Arg(0, pyseccomp.EQ, number))
        rules.add_rule(deny, call, pyseccomp.Arg(0, pyseccomp.GE, first_other))


def _export(rules: Any) -> bytes:
    with open(os.memfd_create("seccomp"), "w+b") as out:
        rules.export_bpf(out)
        out.seek(0)
        return out.read()
