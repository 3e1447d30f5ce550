"""Validates JSON files against a JSON Schema: one line "valid" or "invalid: <where>: <what>" each."""

import json
import sys

from jsonschema import Draft202012Validator


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            report = json.load(file, parse_constant=lambda word: sys.exit(f"{path}: bare {word}"))
        error = next(validator.iter_errors(report), None)
        if error is None:
            print("valid")
        else:
            print(f"invalid: {error.json_path}: {error.message[:200]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
