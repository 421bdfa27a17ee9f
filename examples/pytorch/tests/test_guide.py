"""The programs of the guide's page, `docs/guide/pytorch.md`."""

import contextlib
import importlib.util
import io
import pathlib
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/guide/pytorch.md"


@unittest.skipUnless(PAGE.is_file(), "the guide is not here")
class Guide(unittest.TestCase):
    def programs(self):
        return [block.split("```")[0] for block in PAGE.read_text(encoding="utf-8").split("```python\n")[1:]]

    def run_program(self, program):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, str(PAGE), "exec"), {"__name__": "guide"})
        return printed.getvalue()

    def test_the_program_for_numpy_runs(self):
        program = self.programs()[0]
        self.assertIn("0.848", self.run_program(program))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_the_programs_for_pytorch_run(self):
        programs = self.programs()[1:]
        self.assertEqual(len(programs), 3)
        for program in programs:
            self.run_program(program)


if __name__ == "__main__":
    unittest.main()
