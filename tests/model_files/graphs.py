"""Small ONNX files with weights of their own, made with the onnx library."""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Graph:
    """Nodes one after the other. Weights are drawn small enough to leave activations near one."""

    def __init__(self, shape, *, tokens=False, opset=OPSET, seed=1):
        self.numbers = numpy.random.default_rng(seed)
        self.nodes, self.weights, self.opset = [], [], opset
        kind = TensorProto.INT64 if tokens else TensorProto.FLOAT
        self.inputs = [helper.make_tensor_value_info("x", kind, ["N", *shape])]

    def constant(self, name, values):
        self.weights.append(numpy_helper.from_array(numpy.asarray(values), name))
        return name

    def weight(self, name, *shape, around=0.0):
        fan_in = numpy.prod(shape[1:]) if len(shape) > 1 else shape[0]
        values = around + self.numbers.normal(size=shape) / numpy.sqrt(fan_in)
        return self.constant(name, values.astype(numpy.float32))

    def node(self, op, *inputs, output=None, **attributes):
        outputs = [output or f"{op}_{len(self.nodes)}"]
        if op == "BatchNormalization":  # of training: it has the running statistics as outputs too
            outputs += [outputs[0] + "_mean", outputs[0] + "_variance"]
        self.nodes.append(helper.make_node(op, list(inputs), outputs, **attributes))
        return outputs[0]

    def convolution(self, name, source, inputs, outputs, *, bias=False, kernel=3, **attributes):
        names = [source, self.weight(f"{name}.weight", outputs, inputs, kernel, kernel)]
        if bias:
            names.append(self.weight(f"{name}.bias", outputs))
        pads = attributes.pop("pads", [kernel // 2] * 4)
        return self.node("Conv", *names, pads=pads, **attributes)

    def normalisation(self, name, source, channels):
        parameters = [self.weight(f"{name}.weight", channels, around=1.0),
                      self.weight(f"{name}.bias", channels)]
        statistics = [self.constant(f"{name}.mean", numpy.zeros(channels, numpy.float32)),
                      self.constant(f"{name}.var", numpy.ones(channels, numpy.float32))]
        return self.node("BatchNormalization", source, *parameters, *statistics, training_mode=1)

    def linear(self, name, source, inputs, outputs):
        """A product of a matrix {inputs, outputs} and a sum, as exporters write them for sequences."""
        product = self.node("MatMul", source, self.weight(f"{name}.weight", inputs, outputs))
        return self.node("Add", self.weight(f"{name}.bias", outputs), product)

    def gemm(self, name, source, inputs, outputs):
        return self.node("Gemm", source, self.weight(f"{name}.weight", outputs, inputs),
                         self.weight(f"{name}.bias", outputs), transB=1)

    def layer_norm(self, name, source, width):
        """As exporters write it for operator sets below 17."""
        centred = self.node("Sub", source, self.node("ReduceMean", source, axes=[-1]))
        square = self.node("Pow", centred, self.number(2))
        variance = self.node("ReduceMean", square, axes=[-1])
        deviation = self.node("Sqrt", self.node("Add", variance, self.number(1e-5)))
        scaled = self.node("Mul", self.node("Div", centred, deviation),
                           self.weight(f"{name}.weight", width, around=1.0))
        return self.node("Add", scaled, self.weight(f"{name}.bias", width))

    def number(self, value):
        return self.constant(f"number_{len(self.weights)}", numpy.float32(value))

    def whole(self, *values):
        return self.constant(f"whole_{len(self.weights)}", numpy.array(values))

    def gelu(self, source):
        erf = self.node("Erf", self.node("Div", source, self.number(numpy.sqrt(2))))
        return self.node("Mul", self.node("Mul", source, self.node("Add", erf, self.number(1))),
                         self.number(0.5))

    def gelu_by_tanh(self, source):
        cube = self.node("Mul", self.node("Pow", source, self.number(3)), self.number(0.044715))
        inner = self.node("Mul", self.node("Add", source, cube), self.number(0.7978845608))
        factor = self.node("Add", self.node("Tanh", inner), self.number(1))
        return self.node("Mul", self.node("Mul", self.number(0.5), source), factor)

    def attention(self, source, sequence, heads, size, mask):
        """`mask` adds it to scores and returns their new name."""
        width = heads * size
        parts = [f"{name}_{len(self.nodes)}" for name in ("queries", "keys", "values")]
        self.nodes.append(helper.make_node(
            "Split", [source, self.whole(width, width, width)], parts, axis=2))
        shaped = [self.node("Reshape", part, self.whole(0, sequence, heads, size)) for part in parts]
        queries = self.node("Transpose", shaped[0], perm=[0, 2, 1, 3])
        keys = self.node("Transpose", shaped[1], perm=[0, 2, 3, 1])
        values = self.node("Transpose", shaped[2], perm=[0, 2, 1, 3])
        scores = self.node("Div", self.node("MatMul", queries, keys),
                           self.number(numpy.sqrt(size)))
        shares = self.node("Softmax", mask(scores), axis=-1)
        joined = self.node("Transpose", self.node("MatMul", shares, values), perm=[0, 2, 1, 3])
        return self.node("Reshape", joined, self.whole(0, sequence, width))

    def heads(self, part, sequence, heads, size, order=(0, 2, 1, 3)):
        shaped = self.node("Reshape", part, self.whole(0, sequence, heads, size))
        return self.node("Transpose", shaped, perm=list(order))

    def dot_product(self, queries, keys, values, shape, mask):
        """Behind the transpositions, as PyTorch writes scaled_dot_product_attention: half of the scale
        at the queries, half at the keys."""
        sequence, heads, size = shape
        root = self.number(size ** -0.25)
        scores = self.node("MatMul", self.node("Mul", queries, root), self.node("Mul", keys, root))
        lower = numpy.tril(numpy.ones((sequence, sequence), bool))
        if mask:
            addend = numpy.where(lower, 0, -numpy.inf).astype(numpy.float32)
            scores = self.node("Add", scores, self.constant(f"mask_{len(self.weights)}", addend))
        shares = self.node("Softmax", scores, axis=-1)
        joined = self.node("Transpose", self.node("MatMul", shares, values), perm=[0, 2, 1, 3])
        return self.node("Reshape", joined, self.whole(0, sequence, heads * size))

    def separate_attention(self, name, source, shape, mask):
        """Queries, keys and values by layers of their own. Keys are transposed as PyTorch's newer
        exporter does it."""
        sequence, heads, size = shape
        width = heads * size
        queries, keys, values = (
            self.heads(self.linear(f"{name}.{part}", source, width, width), *shape)
            for part in ("q", "k", "v"))
        keys = self.node("Reshape", keys, self.whole(-1, sequence, size))
        keys = self.node("Reshape", self.node("Transpose", keys, perm=[0, 2, 1]),
                         self.whole(-1, heads, size, sequence))
        return self.dot_product(queries, keys, values, shape, mask)

    def packed_attention(self, name, source, shape, mask):
        """One product, whose rows are divided into three and by heads in one step."""
        sequence, heads, size = shape
        width = heads * size
        packed = self.node("Reshape", self.linear(name, source, width, 3 * width),
                           self.whole(0, sequence, 3, heads, size))
        packed = self.node("Transpose", packed, perm=[2, 0, 3, 1, 4])
        parts = [self.node("Gather", packed, self.constant(f"part_{i}_{len(self.weights)}", i), axis=0)
                 for i in range(3)]
        keys = self.node("Transpose", parts[1], perm=[0, 1, 3, 2])
        return self.dot_product(parts[0], keys, parts[2], shape, mask)

    def zero_state(self, hidden):
        """{1, samples, hidden} zeros."""
        samples = self.node("Gather", self.node("Shape", "x"), self.whole(0))
        shape = self.node("Concat", self.whole(1), samples, self.whole(hidden), axis=0)
        return self.node("ConstantOfShape", shape)

    def lstm(self, name, source, width, hidden, *, layout=0, biases=True):
        """`source` is {positions, samples, width}, and so is the result."""
        state = self.zero_state(hidden)
        gates = [self.weight(f"{name}.{part}", 1, 4 * hidden, inputs)
                 for part, inputs in (("W", width), ("R", hidden))]
        added = self.weight(f"{name}.B", 1, 8 * hidden) if biases else ""
        made = self.node("LSTM", source, *gates, added, "", *[state] * (2 if layout == 0 else 0),
                         hidden_size=hidden, layout=layout)
        return self.node("Squeeze", made, self.whole(1 if layout == 0 else 2))

    def save(self, path, output):
        info = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["N", "M"])
        graph = helper.make_graph(self.nodes, "model", self.inputs, [info], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=8)
        onnx.save(model, path)
        return path


def residual_network():
    graph = Graph([3, 12, 12])
    x = graph.node("Relu", graph.normalisation(
        "bn1", graph.convolution("conv1", "x", 3, 8, strides=[2, 2]), 8))
    x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = graph.normalisation("bn2", graph.convolution("conv2", x, 8, 8), 8)
    x = graph.node("Relu", graph.node("Add", y, x))
    x = graph.convolution("grouped", x, 8, 8, bias=True, group=1)
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    return graph, graph.gemm("fc", x, 8, 5)


def plain_network():
    """Images as rows, and functions of one element."""
    graph = Graph([2, 6, 6])
    x = graph.node("Sigmoid", graph.convolution("conv", "x", 2, 4, bias=True))
    x = graph.node("Reshape", x, graph.constant("rows", numpy.array([0, -1])))
    x = graph.node("Tanh", graph.linear("hidden", x, 144, 10))
    return graph, graph.gemm("fc", x, 10, 3)


def sequence_network():
    graph = Graph([5, 12])
    x = graph.node("Relu", graph.linear("first", "x", 12, 7))
    return graph, graph.linear("second", x, 7, 4)


def classifier():
    graph = Graph([12])
    x = graph.node("Relu", graph.gemm("first", "x", 12, 9))
    return graph, graph.node("Softmax", graph.gemm("second", x, 9, 4), axis=1)


def transformer(mask, gelu, norm_opset=13):
    """One block of a decoder or encoder; `mask` and `gelu` are methods of this name."""
    sequence, heads, size, vocabulary = 5, 2, 4, 11
    width = heads * size
    graph = Graph([sequence], tokens=True, opset=norm_opset)
    count = [0]

    def norm(source):
        count[0] += 1
        name = f"ln_{count[0]}"
        if norm_opset < 17:
            return graph.layer_norm(name, source, width)
        return graph.node("LayerNormalization", source,
                          graph.weight(f"{name}.weight", width, around=1.0),
                          graph.weight(f"{name}.bias", width), axis=-1, epsilon=1e-4)

    lower = numpy.tril(numpy.ones((1, 1, sequence, sequence), bool))
    masks = {
        "none": lambda scores: scores,
        "blocked": lambda scores: graph.node("Where", graph.constant("mask", ~lower),
                                             graph.number(-numpy.inf), scores),
        "allowed": lambda scores: graph.node("Where", graph.constant("mask", lower), scores,
                                             graph.number(-1e9)),
        "added": lambda scores: graph.node(
            "Add", scores,
            graph.constant("mask", numpy.where(lower, 0, -numpy.inf).astype(numpy.float32))),
    }
    x = graph.node("Gather", graph.weight("wte.weight", vocabulary, width), "x")
    x = graph.node("Add", x, graph.weight("wpe.weight", sequence, width))
    y = graph.linear("qkv", norm(x), width, 3 * width)
    y = graph.attention(y, sequence, heads, size, masks[mask])
    x = graph.node("Add", x, graph.linear("projection", y, width, width))
    y = getattr(graph, gelu)(graph.linear("fc", norm(x), width, 3 * width))
    x = graph.node("Add", graph.linear("out", y, 3 * width, width), x)
    head = graph.weight("head.weight", width, vocabulary)  # without a bias
    return graph, graph.node("MatMul", norm(x), head)


def attention_network(method, mask=True):
    """`method` is separate_attention or packed_attention."""
    shape = sequence, heads, size = 5, 2, 4
    graph = Graph([sequence], tokens=True)
    x = graph.node("Gather", graph.weight("wte.weight", 11, heads * size), "x")
    x = graph.node("Add", x, getattr(graph, method)("attention", x, shape, mask))
    return graph, graph.linear("head", x, heads * size, 11)


def lstm_network(biases=True):
    """Two layers of an LSTM, positions in front as PyTorch exports them."""
    graph = Graph([5], tokens=True)
    x = graph.node("Transpose", graph.node("Gather", graph.weight("wte.weight", 11, 6), "x"),
                   perm=[1, 0, 2])
    x = graph.lstm("second", graph.lstm("first", x, 6, 7, biases=biases), 7, 8, biases=biases)
    return graph, graph.linear("head", graph.node("Transpose", x, perm=[1, 0, 2]), 8, 11)


def unet():
    graph = Graph([3, 12, 12])
    x = graph.node("Relu", graph.convolution("down", "x", 3, 8, bias=True))
    y = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = graph.node("Relu", graph.convolution("bottom", y, 8, 16, bias=True))
    y = graph.node("ConvTranspose", y, graph.weight("up.weight", 16, 8, 2, 2), strides=[2, 2])
    x = graph.node("Concat", y, x, axis=1)
    return graph, graph.convolution("last", x, 16, 4, bias=True)


def products():
    """Forms of Gemm: with its input transposed, without biases."""
    graph = Graph([12])
    x = graph.node("Gemm", graph.node("Transpose", "x", perm=[1, 0]),
                   graph.weight("first.weight", 12, 9), graph.weight("first.bias", 9), transA=1)
    return graph, graph.node("Gemm", graph.node("Relu", x), graph.weight("second.weight", 4, 9),
                             graph.weight("unused.bias", 4), transB=1, beta=0.0)


def channels_network():
    """Numbers and constants of channels, zeros around images and parts of them."""
    graph = Graph([3, 9, 8])
    x = graph.node("Add", graph.node("Mul", "x", graph.number(0.5)), graph.weight("centre.bias", 3, 1, 1))
    x = graph.node("Pad", x, graph.whole(0, 0, 1, 1, 0, 0, 1, 1))
    x = graph.convolution("conv", x, 3, 8, pads=[0, 1, 2, 1], strides=[2, 2])
    x = graph.node("Mul", graph.weight("gain.weight", 1, 8, 1, 1, around=1.0), x)
    x = graph.node("Add", graph.node("Sub", graph.number(0.25), x), graph.number(0.5))
    parts = ["narrow", "wide"]
    graph.nodes.append(helper.make_node("Split", [x, graph.whole(3, 5)], parts, axis=1))
    y = graph.node("Pad", parts[0], graph.whole(0, 0, 0, 1, 0, 0, 1, 0))
    y = graph.node("Tanh", graph.node("Slice", y, graph.whole(1, 0), graph.whole(99, -1),
                                      graph.whole(2, 3)))
    x = graph.node("Concat", parts[1], y, axis=1)
    x = graph.node("Slice", x, graph.whole(1, 1), graph.whole(99, -1), graph.whole(1, 3))
    x = graph.node("Div", graph.node("GlobalAveragePool", x), graph.number(0.25))
    x = graph.node("Mul", graph.node("Flatten", x), graph.weight("rows.weight", 7, around=1.0))
    x = graph.node("Gemm", x, graph.weight("hidden.weight", 6, 7), graph.weight("hidden.bias", 6),
                   transB=1, alpha=0.5, beta=2.0)
    return graph, graph.node("Gemm", graph.node("Tanh", x), graph.weight("fc.weight", 6, 4),
                             graph.weight("fc.bias", 4), alpha=1.5, beta=1.5)


def upsampling_network():
    """Transposed convolutions with biases and any padding."""
    graph = Graph([4, 5, 6])

    def up(name, source, inputs, outputs, **attributes):
        return graph.node("ConvTranspose", source, graph.weight(f"{name}.weight", inputs, outputs, 3, 3),
                          graph.weight(f"{name}.bias", outputs), **attributes)

    x = graph.node("Tanh", up("first", "x", 4, 8, strides=[2, 2], pads=[1, 1, 1, 1],
                              output_padding=[1, 1]))
    x = graph.node("Tanh", up("cut", x, 8, 5, strides=[2, 2], pads=[0, 1, 2, 1]))
    return graph, graph.convolution("last", x, 5, 2, bias=True, strides=[3, 3])


def columns_network():
    """Sequences between numbers and constants of columns."""
    graph = Graph([5, 6])
    x = graph.node("Mul", graph.weight("gain.weight", 6, around=1.0), "x")
    x = graph.node("Add", graph.node("Div", x, graph.number(2)), graph.weight("shift.bias", 1, 6))
    y = graph.node("Tanh", graph.linear("first", x, 6, 7))
    z = graph.node("Sigmoid", graph.linear("second", x, 6, 7))
    return graph, graph.linear("last", graph.node("Sub", y, z), 7, 4)


def differences_network():
    """Constants of channels whose parameters are their opposite or their inverse."""
    graph = Graph([3, 6, 6])
    x = graph.node("Div", graph.node("Sub", "x", graph.weight("mean.bias", 1, 3, 1, 1)),
                   graph.weight("deviation.weight", 1, 3, 1, 1, around=2.0))
    x = graph.node("Sub", graph.weight("opposite.bias", 8, 1, 1),
                   graph.convolution("conv", x, 3, 8, bias=True))
    x = graph.node("Flatten", graph.node("GlobalAveragePool", x))
    return graph, graph.gemm("fc", x, 8, 5)


def zeros_network():
    """A transposed convolution with zeros after what it reaches, whose bias is a layer of its own."""
    graph = Graph([4, 5, 6])
    x = graph.node("ConvTranspose", "x", graph.weight("up.weight", 4, 8, 2, 2),
                   graph.weight("up.bias", 8), strides=[2, 2], output_padding=[0, 1])
    return graph, graph.convolution("last", graph.node("Tanh", x), 8, 2, bias=True)


NETWORKS = {
    "channels": channels_network,
    "columns": columns_network,
    "upsampling": upsampling_network,
    "products": products,
    "unet": unet,
    "decoder": lambda: transformer("blocked", "gelu"),
    "decoder_17": lambda: transformer("allowed", "gelu_by_tanh", 17),
    "decoder_added": lambda: transformer("added", "gelu"),
    "encoder": lambda: transformer("none", "gelu_by_tanh"),
    "residual": residual_network,
    "plain": plain_network,
    "sequence": sequence_network,
    "classifier": classifier,
}

# Some of their parameters are parts of several tensors of the file, or sums of two.
JOINED_NETWORKS = {
    "separate": lambda: attention_network("separate_attention"),
    "separate_encoder": lambda: attention_network("separate_attention", mask=False),
    "packed": lambda: attention_network("packed_attention"),
    "differences": differences_network,
    "lstm": lstm_network,
    "lstm_without_biases": lambda: lstm_network(biases=False),
    "zeros": zeros_network,
}
