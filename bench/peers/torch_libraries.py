"""The C libraries that torch_peers.py calls on PyTorch's tensors, in PyTorch's stream.

`Tilepipe` is ours (`bench/capi`), `CublasLt` that of `cublaslt.cu`, `Cub` that of `cub.cu`. Neither is loaded before it is
opened, and nothing here imports PyTorch before that.
"""

import ctypes

# What stands for a grid: a block for each tile, and as many blocks as run at once.
TILES, RESIDENT = 0, -1


class View(ctypes.Structure):
    """Elements in the GPU's memory, or a constant's in ours: `View` of bench/capi/src/view.rs."""

    _fields_ = [
        ("address", ctypes.c_uint64),
        ("rows", ctypes.c_uint64),
        ("columns", ctypes.c_uint64),
        ("pitch", ctypes.c_uint64),
        ("element_bytes", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("matrix_rows", ctypes.c_uint64),
        ("matrix_columns", ctypes.c_uint64),
        ("of_rows", ctypes.c_uint64),
    ]


# The kinds of views.
INPUT, OUTPUT, CONSTANT, NOTHING = 0, 1, 2, 3


def view(tensor, is_output, lanes=1):
    """Makes the view of a tensor of one dimension, or of two whose rows are dense.

    With several lanes a view of one dimension has elements of so many of the tensor's.
    """
    element_bytes = tensor.element_size() * lanes
    if tensor.dim() == 2:
        (rows, columns), (pitch, step) = tensor.shape, tensor.stride()
        if step != 1 or lanes != 1:
            raise ValueError(f"no view of rows: strides {tensor.stride()}, {lanes} lanes")
    else:
        rows, columns, pitch = 0, tensor.numel() // lanes, 0
        if not tensor.is_contiguous() or tensor.numel() % lanes:
            raise ValueError(f"no view of {tensor.numel()} elements, strides {tensor.stride()}, {lanes} lanes")
    return View(tensor.data_ptr(), rows, columns, pitch, element_bytes, OUTPUT if is_output else INPUT)


def matrices(tensor, is_output, rows, columns):
    """Makes the view of matrices of so many rows and columns, which are parts of a tensor's."""
    whole = view(tensor, is_output)
    whole.matrix_rows, whole.matrix_columns = rows, columns
    return whole


def rows_in_matrices(tensor, is_output, rows, columns):
    """Makes the view of matrices of so many rows and columns, which each row of a tensor is side by side."""
    whole = matrices(tensor, is_output, rows, columns)
    whole.of_rows = 1
    return whole


def nothing():
    """Makes the argument for an output that is left out."""
    return View(0, 0, 0, 0, 4, NOTHING)


def constant(numbers):
    """Makes the argument for a constant of a ctypes array, which must stay as long as launches take it."""
    return View(ctypes.addressof(numbers), 0, len(numbers), 0, ctypes.sizeof(numbers) // len(numbers), CONSTANT)


class Tilepipe:
    """Our kernels, in the context that PyTorch has made."""

    def __init__(self, library, module):
        self._library = ctypes.CDLL(library)
        text, handle, views = ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(View)
        functions = {
            "tilepipe_error": (text, []),
            "tilepipe_open": (handle, [text]),
            "tilepipe_blocks": (
                ctypes.c_int,
                [handle, text, ctypes.POINTER(ctypes.c_uint32), ctypes.c_int64, views, ctypes.c_size_t],
            ),
            "tilepipe_launch": (
                ctypes.c_int,
                [handle, text, ctypes.c_int64, views, ctypes.c_size_t, ctypes.c_void_p],
            ),
            "tilepipe_synchronize": (ctypes.c_int, [handle]),
        }
        for name, (result, arguments) in functions.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self._handle = self._library.tilepipe_open(str(module).encode())
        if not self._handle:
            raise RuntimeError(self._error())

    def blocks(self, symbol, grid, views):
        """Returns how many blocks such a launch has."""
        blocks = ctypes.c_uint32()
        array = (View * len(views))(*views)
        call = self._library.tilepipe_blocks
        self._check(call(self._handle, symbol.encode(), ctypes.byref(blocks), grid, array, len(views)))
        return blocks.value

    def launch(self, symbol, grid, views):
        """Starts a kernel in PyTorch's current stream."""
        import torch

        array = (View * len(views))(*views)
        stream = torch.cuda.current_stream().cuda_stream
        self._check(self._library.tilepipe_launch(self._handle, symbol.encode(), grid, array, len(views), stream))

    def synchronize(self):
        """Waits for the GPU; if a kernel of ours has panicked, the error says where."""
        self._check(self._library.tilepipe_synchronize(self._handle))

    def _check(self, status):
        if status != 0:
            raise RuntimeError(self._error())

    def _error(self):
        return self._library.tilepipe_error().decode()


class Cub:
    """CUB's histograms, its scan and reductions. A call works in memory that was asked for before: `plan` makes it."""

    def __init__(self, library):
        self._library = ctypes.CDLL(library)
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        sizes = ctypes.POINTER(size)
        self._of_bytes = self._library.tilepipe_cub_histogram_bytes
        self._of_bytes.restype, self._of_bytes.argtypes = ctypes.c_int, [pointer, sizes, pointer, pointer, size, pointer]
        self._scan = self._library.tilepipe_cub_exclusive_scan
        self._scan.restype, self._scan.argtypes = ctypes.c_int, [pointer, sizes, pointer, pointer, size, pointer]
        self._sum, self._argmax = self._library.tilepipe_cub_sum, self._library.tilepipe_cub_argmax
        for function in (self._sum, self._argmax):
            function.restype, function.argtypes = ctypes.c_int, [pointer, sizes, pointer, pointer, size, pointer]
        self._of_keys = self._library.tilepipe_cub_histogram_keys
        self._of_keys.restype = ctypes.c_int
        self._of_keys.argtypes = [pointer, sizes, pointer, pointer, ctypes.c_int, size, pointer]

    def histogram(self, x, out):
        """The histogram of bytes, or of keys below `out.numel()`; see `_prepared`."""
        if x.element_size() == 1:
            return self._prepared(self._of_bytes, x, out)
        return self._prepared(self._of_keys, x, out, out.numel())

    def exclusive_scan(self, x, out):
        """The exclusive scan of 32-bit numbers; see `_prepared`."""
        return self._prepared(self._scan, x, out)

    def sum(self, x, out):
        """The sum of floats; see `_prepared`."""
        return self._prepared(self._sum, x, out)

    def argmax(self, x, out):
        """The index of the largest float, in 64 bits; see `_prepared`."""
        return self._prepared(self._argmax, x, out, result_bytes=8)

    def _prepared(self, function, x, out, *more, result_bytes=4):
        """Makes memory for tensors of these sizes; returns what starts the work on such tensors in PyTorch's current stream."""
        import torch

        def call(memory, size, x, out):
            if not (x.is_contiguous() and out.is_contiguous() and out.element_size() == result_bytes):
                raise ValueError(f"a tensor is not dense, or a result is not of {result_bytes} bytes")
            stream = torch.cuda.current_stream().cuda_stream
            status = function(memory, ctypes.byref(size), x.data_ptr(), out.data_ptr(), *more, x.numel(), stream)
            if status != 0:
                raise RuntimeError(f"CUB returned the error {status}")

        size = ctypes.c_size_t()
        call(None, size, x, out)
        memory = torch.empty(max(size.value, 1), dtype=torch.uint8, device=x.device)
        return lambda x, out: call(memory.data_ptr(), ctypes.c_size_t(memory.numel()), x, out)


class Sgemm:
    """The product of float matrices that is written by hand: `sgemm.cu`."""

    def __init__(self, library):
        self._call = ctypes.CDLL(library).tilepipe_sgemm
        pointer, number = ctypes.c_void_p, ctypes.c_int
        self._call.restype = number
        self._call.argtypes = [number, pointer, pointer, ctypes.c_float, pointer, number, number, number, pointer]

    def run(self, stages, a, b, out):
        """Starts `out = a * b` in PyTorch's current stream, with so many stages."""
        import torch

        if not (a.is_contiguous() and b.is_contiguous() and out.is_contiguous() and a.element_size() == 4):
            raise ValueError("a matrix is not dense, or not of 32 bits")
        (height, depth), width = a.shape, b.shape[1]
        stream = torch.cuda.current_stream().cuda_stream
        status = self._call(stages, a.data_ptr(), b.data_ptr(), 1.0, out.data_ptr(), height, width, depth, stream)
        if status != 0:
            raise RuntimeError(f"the product by hand returned the error {status}")


class CublasLt:
    """Matrix products by cublasLt: row-major `a[M, K] * b`, where `b` is `[K, N]`, or `[N, K]` and transposed."""

    def __init__(self, library):
        self._library = ctypes.CDLL(library)
        size, pointer = ctypes.c_int64, ctypes.c_void_p
        functions = {
            "tilepipe_lt_error": (ctypes.c_char_p, []),
            "tilepipe_lt_version": (ctypes.c_size_t, []),
            "tilepipe_lt_plan": (
                pointer,
                [ctypes.c_int, ctypes.c_int, size, size, size, pointer, pointer, pointer, pointer],
            ),
            "tilepipe_lt_tried": (ctypes.c_int, [pointer]),
            "tilepipe_lt_run": (ctypes.c_int, [pointer] * 5),
            "tilepipe_lt_free": (None, [pointer]),
        }
        for name, (result, arguments) in functions.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments

    def version(self):
        """Returns the library's version as one number."""
        return self._library.tilepipe_lt_version()

    def plan(self, a, b, out, transposed):
        """Chooses the fastest algorithm for tensors of these shapes, of the first that cublasLt names."""
        import torch

        (rows, inner), columns = a.shape, out.shape[1]
        if not all(tensor.is_contiguous() for tensor in (a, b, out)):
            raise ValueError("a matrix is not dense")
        if tuple(b.shape) != ((columns, inner) if transposed else (inner, columns)) or out.shape[0] != rows:
            raise ValueError(f"the shapes {a.shape}, {b.shape} and {out.shape} do not fit")
        if a.dtype not in (torch.float16, torch.bfloat16) or not a.dtype == b.dtype == out.dtype:
            raise ValueError(f"no product of {a.dtype} and {b.dtype} to {out.dtype}")
        pointers = [tensor.data_ptr() for tensor in (a, b, out)]
        stream = torch.cuda.current_stream().cuda_stream
        is_bfloat16 = int(a.dtype == torch.bfloat16)
        plan = self._library.tilepipe_lt_plan(is_bfloat16, int(transposed), rows, columns, inner, *pointers, stream)
        if not plan:
            raise RuntimeError(self._error())
        return Plan(self, plan)

    def _error(self):
        return self._library.tilepipe_lt_error().decode()


class Plan:
    """A chosen algorithm with its work memory, given back with the object."""

    def __init__(self, owner, plan):
        self._owner, self._plan = owner, plan
        self.tried = owner._library.tilepipe_lt_tried(plan)

    def run(self, a, b, out):
        """Starts the product in PyTorch's current stream."""
        import torch

        pointers = [tensor.data_ptr() for tensor in (a, b, out)]
        stream = torch.cuda.current_stream().cuda_stream
        if self._owner._library.tilepipe_lt_run(self._plan, *pointers, stream) != 0:
            raise RuntimeError(self._owner._error())

    def __del__(self):
        self._owner._library.tilepipe_lt_free(self._plan)
