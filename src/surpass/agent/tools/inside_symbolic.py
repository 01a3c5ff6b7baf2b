"""Runs inside the sandbox: one question to sympy. The expression is parsed by sympy, so it belongs in a sandbox.

python inside_symbolic.py simplify|diff|integrate|solve|series|limit|latex|code EXPRESSION [SYMBOL [VALUE]]
"""

import argparse
import sys


def main() -> int:
    """Answer on standard output; a sentence on standard error when sympy cannot."""
    try:
        import sympy
    except ImportError:
        print("sympy is not installed in this environment: pip install sympy", file=sys.stderr)
        return 3
    parser = argparse.ArgumentParser()
    parser.add_argument("operation", choices=sorted(OPERATIONS))
    parser.add_argument("expression")
    parser.add_argument("symbol", nargs="?", default="x")
    parser.add_argument("value", nargs="?", default="0")
    options = parser.parse_args()
    try:
        expression = sympy.sympify(options.expression)
        symbol, value = sympy.Symbol(options.symbol), sympy.sympify(options.value)
        print(OPERATIONS[options.operation](sympy, expression, symbol, value))
    except (sympy.SympifyError, TypeError, ValueError, NotImplementedError, AttributeError) as error:
        print(f"sympy cannot {options.operation} this: {error}", file=sys.stderr)
        return 1
    return 0


OPERATIONS = {
    "simplify": lambda sympy, e, x, v: sympy.simplify(e),
    "diff": lambda sympy, e, x, v: sympy.simplify(sympy.diff(e, x)),
    "integrate": lambda sympy, e, x, v: sympy.integrate(e, x),
    "solve": lambda sympy, e, x, v: sympy.solve(e, x),
    "series": lambda sympy, e, x, v: sympy.series(e, x, v, 6),
    "limit": lambda sympy, e, x, v: sympy.limit(e, x, v),
    "latex": lambda sympy, e, x, v: sympy.latex(e),
    "code": lambda sympy, e, x, v: sympy.pycode(e),
}


if __name__ == "__main__":
    sys.exit(main())
