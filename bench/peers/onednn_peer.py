"""oneDNN, by its C interface, version 3: products, convolutions, softmax and transposition.

Inputs and results stay in the program's own formats. Only the weights of a convolution are brought into the format
that the library chooses for them, before anything is timed: who applies a network does so once. Torch's convolutions
have the same kernels, but pay for it in every call.
"""

import ctypes

from native import address, calls, load

# dnnl_cpu, dnnl_stream_in_order, dnnl_f32, dnnl_format_tag_any, dnnl_forward_inference.
CPU, IN_ORDER, SINGLE, ANY_FORMAT, INFERENCE = 1, 1, 3, 1, 96
# dnnl_convolution_direct, dnnl_softmax_accurate, dnnl_query_weights_md, DNNL_MEMORY_ALLOCATE.
DIRECT, ACCURATE, LAYOUT_OF_WEIGHTS, ALLOCATE = 1, 0x30000, 131, ctypes.c_void_p(-1)
# DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WEIGHTS.
SOURCE, RESULT, WEIGHTS = 1, 17, 33

# The orders of an image's dimensions (image, channel, row, column) in memory; filters have the same.
CHANNELS_FIRST, CHANNELS_LAST = (0, 1, 2, 3), (0, 2, 3, 1)


class Argument(ctypes.Structure):
    """`dnnl_exec_arg_t`: the role of an array, and the array."""

    _fields_ = [("role", ctypes.c_int), ("memory", ctypes.c_void_p)]


def integers(numbers):
    return (ctypes.c_int64 * len(numbers))(*numbers)


class Library:
    """The library, and the objects that were made for a case."""

    def __init__(self):
        self.library = load("libdnnl.so.3", "libdnnl.so.3")
        self.library.dnnl_primitive_desc_query_md.restype = ctypes.c_void_p
        self.made = []
        self.engine = self.make("engine", "engine_create", CPU, ctypes.c_size_t(0))
        self.stream = self.make("stream", "stream_create", self.engine, IN_ORDER)
        self.made.clear()

    def make(self, kind, create, *arguments):
        """An object; `forget` destroys it."""
        handle = ctypes.c_void_p()
        status = self.library["dnnl_" + create](ctypes.byref(handle), *arguments)
        if status != 0:
            raise RuntimeError(f"dnnl_{create} fails with status {status}")
        self.made.append((kind, handle))
        return handle

    def forget(self):
        """Destroys all objects of the case before."""
        while self.made:
            kind, handle = self.made.pop()
            self.library[f"dnnl_{kind}_destroy"](handle)

    def layout(self, dims, order=None):
        """The layout of an array whose dimensions lie in memory in this order, the outermost first."""
        strides, stride = [0] * len(dims), 1
        for dim in reversed(order or range(len(dims))):
            strides[dim] = stride
            stride *= dims[dim]
        return self.make("memory_desc", "memory_desc_create_with_strides", len(dims), integers(dims), SINGLE,
                         integers(strides))

    def memory(self, layout, place):
        return self.make("memory", "memory_create", layout, self.engine, place)

    def described(self, name, *arguments):
        return self.make("primitive_desc", name + "_primitive_desc_create", self.engine, *arguments)

    def runs(self, described, **memories):
        """A run of a primitive on arrays."""
        primitive = self.make("primitive", "primitive_create", described)
        roles = {"source": SOURCE, "weights": WEIGHTS, "result": RESULT}
        arguments = (Argument * len(memories))(*(Argument(roles[role], memory) for role, memory in memories.items()))
        execute, wait = self.library.dnnl_primitive_execute, self.library.dnnl_stream_wait
        return calls([execute, primitive, self.stream, len(memories), ctypes.byref(arguments)], [wait, self.stream])

    def product(self, dims, a, b, c):
        """C = A * B for matrices in row-major order, as many as there are."""
        *batch, m, n, k = dims
        layouts = [self.layout([*batch, *last]) for last in ([m, k], [k, n], [m, n])]
        x, w, y = layouts
        described = self.described("matmul", x, w, None, y, None)
        a, b, c = (self.memory(layout, address(array)) for layout, array in zip(layouts, (a, b, c)))
        return self.runs(described, source=a, weights=b, result=c)

    def copy(self, layouts, memories):
        """A copy in another layout."""
        source, result = layouts
        described = self.make("primitive_desc", "reorder_primitive_desc_create", source, self.engine, result,
                              self.engine, None)
        return self.runs(described, source=memories[0], result=memories[1])

    def transpose(self, task, x, y):
        layouts = self.layout(x.shape), self.layout(x.shape, (1, 0))
        return self.copy(layouts, [self.memory(layout, address(array)) for layout, array in zip(layouts, (x, y))])

    def softmax(self, task, x, y):
        layout = self.layout(x.shape)
        described = self.described("softmax_forward", INFERENCE, ACCURATE, layout, layout, 1, None)
        return self.runs(described, source=self.memory(layout, address(x)), result=self.memory(layout, address(y)))

    def convolution(self, task, image, filters, out):
        """A convolution; its filters are reordered here, before it runs. Around an image with padding there are as
        many zeros below it and right of it as it takes with an image that is `t` times as large as the result."""
        n, k, c, p, q, r, s, t = (task.dims.get(dim, 1) for dim in "nkcpqrst")
        order = CHANNELS_FIRST if task.texts.get("layout") == "nchw" else CHANNELS_LAST
        reached = (p - 1) * t + r, (q - 1) * t + s
        is_padded = task.workload.endswith("_padded")
        extents, before = ((t * p, t * q), (r // 2, s // 2)) if is_padded else (reached, (0, 0))
        behind = [most - left - extent for most, left, extent in zip(reached, before, extents)]
        x, y = self.layout([n, c, *extents], order), self.layout([n, k, p, q], order)
        plain = self.layout([k, c, r, s], order)
        best = self.make("memory_desc", "memory_desc_create_with_tag", 4, integers([k, c, r, s]), SINGLE, ANY_FORMAT)
        described = self.described("convolution_forward", INFERENCE, DIRECT, x, best, None, y, integers([t, t]),
                                   integers([0, 0]), integers(before), integers(behind), None)
        query = self.library.dnnl_primitive_desc_query_md
        chosen = ctypes.c_void_p(query(described, LAYOUT_OF_WEIGHTS, 0))
        weights = self.memory(chosen, ALLOCATE)
        self.copy((plain, chosen), (self.memory(plain, address(filters)), weights))()
        return self.runs(described, source=self.memory(x, address(image)), weights=weights,
                         result=self.memory(y, address(out)))


LIBRARY = Library()
OUTPUTS = []


def results(_):
    return OUTPUTS


def prepare(task):
    LIBRARY.forget()
    make = MADE.get(task.workload)
    if make is None or set(task.types) != {"f32"}:
        return None
    OUTPUTS[:] = task.outputs
    return make(task, *task.inputs, *task.outputs)


def product(dims):
    """A product of these dimensions."""
    return lambda task, *arrays: LIBRARY.product([task.dims.get(dim, 1) for dim in dims], *arrays)


MADE = {
    # The one column of the vector is no dimension of the case.
    "matvec": product("i1k"),
    "matmul": product("ijk"),
    # The transposed product is the product of the transposed ones in the other order.
    "matmul_t": lambda task, a, b, c: product("jik")(task, b, a, c),
    "bmatmul": product("bijk"),
    **dict.fromkeys(["conv2d", "conv2d_padded", "mcc", "mcc_padded"], LIBRARY.convolution),
    "softmax": LIBRARY.softmax,
    "transpose": LIBRARY.transpose,
}
