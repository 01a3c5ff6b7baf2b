"""Checks that run the package: in the sandbox, through the same judge as any submission."""
