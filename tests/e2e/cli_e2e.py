#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""End-to-end tests of the command line.

    cli_e2e.py [--bin PATH] [TOPIC...]      TOPIC: a file of tests/e2e/cli without .py (default: all)
"""
import argparse
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent / "cli"


def main():
    topics = sorted(p.stem for p in HERE.glob("*.py") if p.stem != "harness")
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", help="the kernwright binary (default: $KW_BIN, then build/release/bin)")
    parser.add_argument("-k", help="only tests whose name matches")
    parser.add_argument("topics", nargs="*", help=f"of {', '.join(topics)}")
    options = parser.parse_args()
    if options.bin:
        os.environ["KW_BIN"] = options.bin
    sys.path.insert(0, str(HERE))
    loader = unittest.TestLoader()
    if options.k:
        loader.testNamePatterns = [f"*{options.k}*"]
    suite = unittest.TestSuite(loader.loadTestsFromName(t) for t in options.topics or topics)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
