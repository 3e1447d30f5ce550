"""Shell commands that print what a GoogleTest executable prints."""
WORDS = {"OK": "      OK", "FAILED": " FAILED ", "SKIPPED": " SKIPPED"}


def began(name):
    return f"echo '[ RUN      ] {name}'"


def ran(name, result="OK", *said):
    lines = [*said, f"[ {WORDS[result]} ] {name} (1 ms)"]
    return "; ".join([began(name), *(f"echo '{line}'" for line in lines)])
