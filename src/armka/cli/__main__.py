"""`python -m armka.cli` is `armka`."""

from armka.cli.main import main

if __name__ == "__main__":
    main()
