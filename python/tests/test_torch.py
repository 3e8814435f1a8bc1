"""`torch.compile(f, backend="mdh")` beside torch itself."""

import pathlib
import re
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")
pytest.importorskip("mdh._mdh")

import mdh.torch_backend  # noqa: E402  (after what may be missing)
from mdh import errors, torch_parts  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
linear, softmax = torch.nn.functional.linear, torch.softmax


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setenv("MDH_CACHE", str(tmp_path))
    torch._dynamo.reset()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        # A warning says that something stays with torch: most tests expect that nothing does.
        warnings.filterwarnings("error", message=r"of a graph of")
        yield


@pytest.fixture
def divisions(monkeypatch):
    """The graphs that are compiled, as they are divided."""
    made = []
    divide = torch_parts.Division.__init__

    def noted(self, *arguments):
        divide(self, *arguments)
        made.append(self)

    monkeypatch.setattr(torch_parts.Division, "__init__", noted)
    return made


def compiled(function, **options):
    return torch.compile(function, backend="mdh", options=options or None)


def agree(function, *arguments, grad=False, check_stride=True):
    """Holds a compiled function against the same one of torch: values, types, and strides."""
    with torch.set_grad_enabled(grad):
        given, expected = compiled(function)(*arguments), function(*arguments)
    pairs = zip(given, expected, strict=True) if isinstance(expected, (tuple, list)) else [(given, expected)]
    for value, reference in pairs:
        torch.testing.assert_close(value, reference, equal_nan=True, check_stride=check_stride)


def mlp():
    layers = torch.nn.Linear(20, 30), torch.nn.GELU(), torch.nn.Linear(30, 10), torch.nn.ReLU(), torch.nn.Linear(10, 5)
    return torch.nn.Sequential(*layers)


class Attention(torch.nn.Module):
    """A layer with the softmax written out."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.width = heads, width // heads
        self.q, self.k, self.v, self.out = (torch.nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.width).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        weights = softmax(q @ k.transpose(-1, -2) / self.width**0.5, dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))


def test_networks(divisions):
    agree(mlp(), torch.randn(7, 20))
    agree(Attention(), torch.randn(2, 9, 32))
    agree(torch.nn.LayerNorm(24), torch.randn(6, 24))
    agree(torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.randn(2, 3, 17, 15))
    agree(torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU()).eval(),
          torch.randn(2, 3, 9, 8))
    assert [division.parts for division in divisions] == [1] * 5


def test_attention_of_torch():
    q, k, v = torch.randn(3, 2, 4, 10, 8)
    for is_causal in (False, True):
        # What torch takes it apart into gives the result other strides.
        agree(lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal), q, k, v,
              check_stride=False)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
def test_prefix_sums(name, dim, divisions):
    function = getattr(torch, name)
    x = torch.randn(5, 7, 11)
    agree(lambda x: tuple(function(x, dim)) if name in ("cummax", "cummin") else function(x, dim), x)
    (division,) = divisions
    assert division.parts == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.int32, torch.int8, torch.bool])
def test_prefix_sums_of_other_elements(dtype):
    x = torch.randint(0, 2 if dtype is torch.bool else 3, (4, 9)).to(dtype)
    agree(lambda x: torch.cumsum(x, 1), x)
    agree(lambda x: torch.cumprod(x, 0), x)
    if dtype is not torch.bool:
        agree(lambda x: tuple(torch.cummax(x, 1)), x)


def test_prefix_maxima_of_what_is_no_number():
    nan, inf = float("nan"), float("inf")
    x = torch.tensor([[1, 3, 3, nan, 5, nan, 7], [-inf, inf, inf, 2, nan, inf, 1], [-0.0, 0.0, -0.0, 0.0, 0, -1, 0]])
    agree(lambda x: tuple(torch.cummax(x, 1)), x)
    agree(lambda x: tuple(torch.cummin(x, 1)), x)
    agree(lambda x: torch.cummax(x, 1).values, x)
    agree(lambda x: torch.cummin(x, 0).indices, x)
    agree(lambda x: torch.logcumsumexp(x, 1), x)


class Cumsum(torch.nn.Module):
    """KernelBench level 1, 89 and 90: prefix sums and products."""

    def __init__(self, dim, operation=torch.cumsum):
        super().__init__()
        self.dim, self.operation = dim, operation

    def forward(self, x):
        return self.operation(x, dim=self.dim)


class ReverseCumsum(Cumsum):
    """91."""

    def forward(self, x):
        return torch.cumsum(x.flip(self.dim), dim=self.dim).flip(self.dim)


class ExclusiveCumsum(Cumsum):
    """92, with its slice of axis 0."""

    def forward(self, x):
        padded = torch.cat((torch.zeros_like(x.select(self.dim, 0).unsqueeze(self.dim)), x), dim=self.dim)[:-1]
        return torch.cumsum(padded, dim=self.dim)


class MaskedCumsum(Cumsum):
    """93."""

    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=self.dim)


def test_kernel_bench(divisions):
    x, mask = torch.rand(12, 40), torch.randint(0, 2, (12, 40)).bool()
    agree(Cumsum(1), x)
    agree(Cumsum(1, torch.cumprod), x)
    for dim in (0, 1):
        agree(ReverseCumsum(dim), x)
        agree(ExclusiveCumsum(dim), x)
        agree(MaskedCumsum(dim), x, mask)
    assert [division.parts for division in divisions] == [1] * 8


def test_prefix_sums_among_other_operations(divisions):
    def f(x, w):
        y = torch.cumsum(linear(x, w), -1)
        return torch.logcumsumexp(y * 0.1, 0).exp() + torch.cummax(y, 0).values

    agree(f, torch.randn(6, 8), torch.randn(10, 8))
    assert divisions[0].parts > 2 and not divisions[0].staying


def test_unsupported_operation_stays_with_torch(divisions):
    def f(x):
        return torch.linalg.qr(torch.relu(x @ x.T) + torch.eye(8)).R.abs().sum(0)

    with pytest.warns(UserWarning, match="aten.linalg_qr.default") as caught:
        agree(f, torch.randn(8, 8))
    assert len([warning for warning in caught if "of a graph of" in str(warning.message)]) == 1
    (division,) = divisions
    assert division.parts == 2 and list(division.staying) == ["aten.linalg_qr.default"]


def test_random_numbers_are_those_of_torch():
    with pytest.warns(UserWarning, match="it draws random numbers"):
        f = compiled(lambda x: torch.bernoulli(x) * 2 + torch.rand(5))
        torch.manual_seed(3)
        given = f(torch.full((5,), 0.5))
    torch.manual_seed(3)
    torch.testing.assert_close(given, torch.bernoulli(torch.full((5,), 0.5)) * 2 + torch.rand(5))


def test_elements_that_programs_have_not():
    with pytest.warns(UserWarning, match="its elements are torch.complex64"):
        agree(lambda x: (x * x).real + 1, torch.randn(4, dtype=torch.complex64))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int16, torch.int32,
                                   torch.int64])
def test_elements(dtype):
    x, y = (torch.randint(0, 100, (5, 6)).to(dtype) for _ in range(2))
    agree(lambda x, y: (x + y, x * y, torch.maximum(x, y), x > y), x, y)
    agree(lambda x, y: (x.sum(), x.amax(1), torch.where(x < y, x, y)), x, y)


def test_unsigned_elements_stay_with_torch():
    x = torch.tensor([[200, 3, 255], [128, 127, 0]], dtype=torch.uint8)
    with pytest.warns(UserWarning, match="its elements are torch.uint8"):
        agree(lambda x: (x.float() / 255, x.sum(1)), x)


SPECIAL = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.5, -1.5, 2.5, 1e30, -1e-30])

#: Operations that torch-mlir alone takes for something else, and their arguments.
MISTAKEN = {
    "maximum": (torch.maximum, SPECIAL, SPECIAL.flip(0)),
    "minimum": (torch.minimum, SPECIAL.roll(1), SPECIAL),
    "clamp": (lambda x: (x.clamp(-1, 2), x.clamp(min=0.5), x.clamp(max=0.5)), SPECIAL),
    "hardtanh": (torch.nn.functional.hardtanh, SPECIAL),
    "relu6": (torch.nn.functional.relu6, SPECIAL),
    "reciprocal": (torch.reciprocal, SPECIAL),
    "isfinite": (torch.isfinite, SPECIAL),
    "tanh GELU": (lambda x: torch.nn.functional.gelu(x, approximate="tanh"), torch.linspace(-4, 4, 50)),
    "itself": (lambda x: (x == x, x != x, x <= x, x - x, x / x, x * 0, torch.maximum(x, x)), SPECIAL),
    "powers": (lambda x: (x**0.5, x**2, x**3, x**-1, x**-0.5), SPECIAL),
    "powers of integers": (lambda x: (x**2, x**3), torch.tensor([-3, 0, 5, 2**40])),
    "truth values": (lambda x, y: (x < y, x <= y, x > y, x >= y, x == y), torch.tensor([True, False, True, False]),
                     torch.tensor([1, 0, 0, -1])),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_operations_as_torch_defines_them(name):
    agree(*MISTAKEN[name])


@pytest.mark.parametrize("function", [torch.fmod, lambda x, y: torch.div(x, y, rounding_mode="floor")])
def test_rounded_quotients_stay_with_torch(function):
    with pytest.warns(UserWarning, match="rounds a quotient"):
        agree(function, SPECIAL, SPECIAL.flip(0))


def test_elements_at_positions():
    x = torch.randn(4, 6)
    # mdh would run these as plain loops.
    with pytest.warns(UserWarning, match="aten.index.Tensor: mdh: .* stays as it is"):
        agree(lambda x, i, j: (x[i], x[i, j], x[:, j], x.gather(1, j[None].expand(4, 2)) * 2), x, torch.tensor([3, -1]),
              torch.tensor([0, 5]))
    with pytest.warns(UserWarning, match="aten.index.Tensor"):
        agree(lambda x: torch.nn.functional.interpolate(x[None, None], size=(7, 9), mode="bilinear"), x)


def test_layouts():
    x = torch.randn(4, 6, 8)
    agree(lambda x: x + 1, x.transpose(0, 2))
    agree(lambda x: (x + 1).transpose(0, 1), x)
    agree(lambda x: x[:, ::2] * 2, x)
    agree(lambda x, y: x.t() @ y, torch.randn(5, 3), torch.randn(6, 5).t())
    agree(torch.nn.Conv2d(4, 6, 3).to(memory_format=torch.channels_last),
          torch.randn(2, 4, 7, 7).to(memory_format=torch.channels_last))
    agree(lambda x, y: x * y, torch.randn(3, 1).expand(3, 5), torch.randn(5))
    agree(lambda x: x.sum(), x[1:3, 2:5, ::3])
    agree(lambda x: tuple(torch.cummax(x.transpose(0, 1), 0)), x)


def test_negated_memory():
    z = torch.randn(5, dtype=torch.complex64)
    with pytest.warns(UserWarning, match="a tensor has the negated numbers"):
        agree(lambda x: x + 1, z.conj().imag)


def test_views_are_views():
    f = compiled(lambda x: (x.view(6, 2), x + 1))
    x = torch.arange(12.0)
    assert f(x)[0].data_ptr() == x.data_ptr()


def test_arguments_that_are_written():
    def f(x, y):
        x.add_(y)
        return x * 2

    x, y = torch.randn(2, 4)
    expected = (x + y) * 2
    torch.testing.assert_close(compiled(f)(x, y), expected)
    torch.testing.assert_close(x * 2, expected)


def test_sizes_that_change(divisions):
    f = compiled(lambda x: torch.cumsum(x, 0) / x.shape[0])
    for size in (5, 9, 17, 9):
        x = torch.randn(size, 3)
        torch.testing.assert_close(f(x), torch.cumsum(x, 0) / size)
    assert len(divisions) == 3


def test_empty_tensors():
    agree(lambda x: (x + 1).sum(), torch.zeros(0, 3))


def test_numbers_without_axes():
    agree(lambda x, y: (x * y, y + 1), torch.tensor(3.0), torch.tensor(2.0))


def test_index_out_of_range():
    table = torch.randn(10, 4)
    f = compiled(lambda table, at: torch.nn.functional.embedding(at, table) * 2)
    with pytest.warns(UserWarning, match="aten.embedding.default"):
        torch.testing.assert_close(f(table, torch.tensor([3, 9])), table[[3, 9]] * 2)
    with pytest.raises((errors.ProgramError, IndexError)):
        f(table, torch.tensor([3, 10]))


def test_training():
    network, x = mlp(), torch.randn(7, 20)
    network(x).square().mean().backward()
    expected = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    compiled(network)(x).square().mean().backward()
    for parameter, gradient in zip(network.parameters(), expected):
        torch.testing.assert_close(parameter.grad, gradient)


def test_options():
    x = torch.randn(100)
    torch.testing.assert_close(compiled(torch.sum, deterministic=True)(x), x.sum())
    with pytest.raises(Exception, match="found the options fast"):
        compiled(lambda x: x + 1, fast=True)(x)


@pytest.mark.skipif(not PAGE.is_file(), reason="the repository is not there")
def test_page():
    for block in re.finditer(r"(?ms)^```py\n(.*?)^```$", PAGE.read_text()):
        exec(compile(block.group(1), str(PAGE), "exec"), {})


@pytest.mark.parametrize("spec", ["ij,jk->ik", "ij,kj->ki", "ij->"])
def test_einsums_of_complex_numbers(spec):
    shapes = {"ij": (3, 4), "jk": (4, 5), "kj": (5, 4)}
    operands = [torch.randn(shapes[term], dtype=torch.complex64) for term in spec.partition("->")[0].split(",")]
    expected = torch.einsum(spec, *operands)
    result = mdh.einsum(spec, *operands)
    assert result.dtype == torch.complex64
    torch.testing.assert_close(result, expected)
    transposed = [operand.mT.contiguous().mT.conj() for operand in operands]
    torch.testing.assert_close(mdh.einsum(spec, *transposed), torch.einsum(spec, *transposed))
    out = torch.empty_like(expected)
    assert mdh.einsum(spec, *operands, out=out) is out
    torch.testing.assert_close(out, expected)
