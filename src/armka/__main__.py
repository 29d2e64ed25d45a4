"""`python -m armka` is `armka`."""

from armka.cli.main import main

if __name__ == "__main__":
    main()
