#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the #include lines of src/ against the dependency table of ARCHITECTURE.md and CMake.

Fails when a folder includes a folder outside its row, when the table and src/CMakeLists.txt differ,
or when a header pulls a heavy third-party header.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAVY = ("nlohmann/json.hpp", "CLI/", "toml++", "httplib", "spdlog", "sqlite3.h", "curl/", "openssl/")


def architecture_table():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = re.findall(r"^\| `([a-z/]+)` \|\s*([^|]*?)\s*\|", text, re.M)
    return {folder: set(re.findall(r"`([a-z/]+)`", deps)) for folder, deps in rows}


def cmake_table():
    text = (ROOT / "src/CMakeLists.txt").read_text()
    table = {}
    for folder, rest in re.findall(r"^kw_library\((\S+)([^)]*)\)", text, re.M):
        deps = re.search(r"DEPS ([^A-Z]*)", rest)
        table[folder] = set(deps.group(1).split()) if deps else set()
    return table


def folder_of(path, folders):
    parent = path.parent
    while True:
        name = parent.as_posix()
        if name in folders:
            return name
        if parent == parent.parent:
            return None
        parent = parent.parent


def main():
    table, cmake, problems = architecture_table(), cmake_table(), []
    if not table:
        problems.append("ARCHITECTURE.md: no dependency table found")
    for folder in sorted(set(table) | set(cmake)):
        if table.get(folder) != cmake.get(folder):
            problems.append(f"{folder}: ARCHITECTURE.md says {sorted(table.get(folder, []))}, "
                            f"src/CMakeLists.txt says {sorted(cmake.get(folder, []))}")
    checked = 0
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".hpp", ".cpp", ".h"):
            continue
        relative = path.relative_to(ROOT / "src")
        folder = folder_of(relative, table)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            quoted = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            angled = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            if quoted and folder:
                checked += 1
                target = folder_of(pathlib.PurePosixPath(quoted.group(1)), table)
                if target and target != folder and target not in table[folder]:
                    problems.append(f"src/{relative}:{number}: {folder} may not include {target}")
            if angled and path.suffix in (".hpp", ".h") and angled.group(1).startswith(HEAVY):
                problems.append(f"src/{relative}:{number}: heavy header <{angled.group(1)}> in a header")
    for problem in problems:
        print(problem)
    print(f"layering: {checked} includes checked, {len(problems)} problems")
    return 1 if problems or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
