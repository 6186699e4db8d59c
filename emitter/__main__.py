"""`python -m emitter` has what an instance needs: run and replay."""

from emitter.cli import main

if __name__ == "__main__":
    main()
