"""A test case that has a box, which its tests share; one that needs its own takes `self.fresh()`."""
import unittest

from harness import Box


class BoxCase(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.box = Box()

    @classmethod
    def tearDownClass(cls):
        cls.box.close()

    def setUp(self):
        if self.box.busy or self.box.status is not None:
            self.box.close()
            type(self).box = Box()

    def fresh(self, **options):
        box = Box(**options)
        self.addCleanup(box.close)
        return box

    def good(self, code, box=None, **options):
        """Runs a cell that must succeed; its result."""
        result = (box or self.box).run(code, **options)
        self.assertEqual(result.status, "success", result)
        return result

    def bad(self, code, kind=None, box=None, **options):
        """Runs a cell that must fail; its error."""
        result = (box or self.box).run(code, **options)
        self.assertEqual(result.status, "error", result)
        if kind is not None:
            self.assertEqual(result.error["type"], kind, result)
        return result.error

    def alive(self, box=None):
        """The notebook still runs cells of both kinds, prints and shows."""
        box = box or self.box
        # What the cells before have left behind warns when it is freed, which may be at any time.
        self.good("import gc; gc.collect()", box)
        result = self.good("import sys; print('out'); print('err', file=sys.stderr); 6 * 7", box)
        self.assertEqual((result.out, result.err, result.value), ("out\n", "err\n", "42"))
        self.assertEqual(self.good("import asyncio; await asyncio.sleep(0, 'slept')", box).value, "'slept'")
