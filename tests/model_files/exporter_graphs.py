"""Small ONNX files as programs other than PyTorch's present exporters write them."""
import numpy
from onnx import TensorProto, helper, numpy_helper

from model_files.graphs import Graph


def exported(shape, opset, *, samples="N", number=TensorProto.FLOAT, tokens=False):
    """A graph whose input has that type and that dimension of samples."""
    graph = Graph(shape, tokens=tokens, opset=opset)
    kind = TensorProto.INT64 if tokens else number
    graph.inputs = [helper.make_tensor_value_info("x", kind, [samples, *shape])]
    return graph


def norm(graph, name, source, channels, *, outputs=1, **attributes):
    """In evaluation, or with running statistics as outputs too."""
    parameters = [graph.weight(f"{name}.{part}", channels, around=float(part in ("weight", "var")))
                  for part in ("weight", "bias", "mean")]
    variance = graph.constant(f"{name}.var", graph.numbers.uniform(0.5, 2, channels).astype(numpy.float32))
    names = [f"{name}_{i}" for i in range(outputs)]
    graph.nodes.append(helper.make_node("BatchNormalization", [source, *parameters, variance], names, name=name,
                                        **attributes))
    return names[0]


def keras(is_transposed):
    """tf2onnx: images with channels last, padding after, kernels of channels last where they are not folded."""
    graph = exported([9, 8, 3], 13)
    x = graph.node("Transpose", "x", perm=[0, 3, 1, 2])
    if is_transposed:
        kernel = graph.node("Transpose", graph.weight("first.kernel", 3, 3, 3, 6), perm=[3, 2, 0, 1])
    else:
        kernel = graph.weight("first.weight", 6, 3, 3, 3)
    x = graph.node("Conv", x, kernel, strides=[2, 2], kernel_shape=[3, 3], pads=[0, 0, 1, 1])
    x = graph.node("Relu", norm(graph, "bn1", x, 6, epsilon=1e-3))
    x = graph.node("Conv", x, graph.weight("depthwise.weight", 6, 1, 3, 3), group=6, kernel_shape=[3, 3],
                   strides=[1, 1], auto_pad="SAME_UPPER")
    x = graph.node("GlobalAveragePool", graph.node("Relu", norm(graph, "bn2", x, 6, epsilon=1e-3)))
    x = graph.node("Squeeze", x, graph.whole(2, 3))
    return graph, graph.node("Softmax", graph.linear("fc", x, 6, 5), axis=-1)


def matlab(mean):
    """An image less a mean in front, one sample in all shapes, initializers among the inputs."""
    graph = exported([3, 8, 8], 8, samples=1)
    x = graph.node("Sub", "x", graph.weight("imageinput_Mean", 1, 3, *mean))
    x = graph.convolution("conv1", x, 3, 4, bias=True, dilations=[1, 1], group=1)
    x = graph.node("Relu", norm(graph, "bn", x, 4, momentum=0.9, spatial=1))
    x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0])
    x = graph.node("Relu", graph.convolution("conv2", x, 4, 6, bias=True))
    x = graph.node("Flatten", graph.node("Dropout", x, ratio=0.5), axis=1)
    x = graph.node("Softmax", graph.gemm("fc", x, 96, 5), axis=1)
    graph.inputs += [helper.make_tensor_value_info(one.name, one.data_type, one.dims) for one in graph.weights]
    return graph, x


def upsampled(graph, x, channels, side):
    parts = graph.node("Reshape", x, graph.whole(-1, channels, side, 1, side, 1))
    parts = graph.node("Expand", parts, graph.whole(1, channels, side, 2, side, 2))
    return graph.node("Reshape", parts, graph.whole(-1, channels, 2 * side, 2 * side))


def detector(head_only, batch=1):
    """YOLO: cells of boxes in five dimensions with one sample in the Reshape; SiLU, and Resize with an empty
    region, which is an Expand where `batch` is open."""
    graph = exported([3, 8, 8], 11)
    x = graph.convolution("first", "x", 3, 4, bias=True, strides=[2, 2])
    x = graph.node("Relu", x) if head_only else graph.node("Mul", x, graph.node("Sigmoid", x))
    y, side, channels = graph.convolution("deep", x, 4, 8, bias=True, strides=[2, 2]), 2, 8
    if not head_only:
        scales = graph.constant("scales", numpy.array([1, 1, 2, 2], numpy.float32))
        y = upsampled(graph, y, channels, side) if batch < 0 else graph.node(
            "Resize", y, graph.constant("roi", numpy.zeros(0, numpy.float32)), scales, mode="nearest",
            coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        y, side, channels = graph.node("Concat", y, x, axis=1), 4, 12
    y = graph.convolution("head", y, channels, 21, bias=True, kernel=1)
    y = graph.node("Reshape", y, graph.whole(batch, 3, 7, side, side))
    return graph, graph.node("Sigmoid", graph.node("Transpose", y, perm=[0, 1, 3, 4, 2]))


def halved(weights):
    weights.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights).astype(numpy.float16), weights.name))


def half(kind):
    """f16 throughout, between casts, or of one weight that is cast."""
    graph = exported([3, 6, 6], 17, number=TensorProto.FLOAT16 if kind == "all" else TensorProto.FLOAT)
    x = graph.node("Cast", "x", to=TensorProto.FLOAT16) if kind == "inside" else "x"
    weights = [graph.weight("conv.weight", 8, 3, 3, 3), graph.weight("conv.bias", 8)]
    if kind == "weight":
        weights[0] = graph.node("Cast", weights[0], to=TensorProto.FLOAT)
    x = graph.node("Relu", graph.node("Conv", x, *weights, pads=[1, 1, 1, 1]))
    x = graph.gemm("fc", graph.node("Flatten", graph.node("GlobalAveragePool", x)), 8, 5)
    for one in graph.weights[:1] if kind == "weight" else graph.weights:
        halved(one)
    return graph, graph.node("Cast", x, to=TensorProto.FLOAT) if kind == "inside" else x


def in_training(opset, outputs, dropout=None, **attributes):
    """Normalisations with the statistics as outputs; dropouts with a seed and a mask, or by a Constant."""
    graph = exported([3, 6, 6], opset)
    x = norm(graph, "norm", graph.convolution("conv", "x", 3, 8), 8, outputs=outputs, momentum=0.9, **attributes)
    x = graph.node("Flatten", graph.node("GlobalAveragePool", graph.node("Relu", x)))
    if dropout == "mask":
        names = [x, graph.number(0.5), graph.constant("training", numpy.array(True))]
        graph.nodes.append(helper.make_node("Dropout", names, ["dropped", "mask"], seed=1))
        x = "dropped"
    elif dropout == "constant":
        training = graph.node("Constant", value=numpy_helper.from_array(numpy.array(True)))
        x = graph.node("Dropout", x, graph.number(0.5), training)
    return graph, graph.gemm("fc", x, 8, 5)


def without_statistics():
    graph, output = in_training(15, 1, training_mode=1)
    next(node for node in graph.nodes if node.op_type == "BatchNormalization").input[3:] = ["", ""]
    return graph, output


def tagger(op, direction="forward", **attributes):
    """Words by recurrent cells, whose directions are joined by a transposition."""
    graph, directions = exported([5], 17, tokens=True), 2 if direction == "bidirectional" else 1
    gates = 28 if op == "LSTM" else 21
    x = graph.node("Transpose", graph.node("Gather", graph.weight("words.weight", 11, 6), "x"), perm=[1, 0, 2])
    x = graph.node(op, x, graph.weight("W", directions, gates, 6), graph.weight("R", directions, gates, 7),
                   graph.weight("B", directions, 2 * gates), direction=direction, hidden_size=7, **attributes)
    x = graph.node("Reshape", graph.node("Transpose", x, perm=[0, 2, 1, 3]), graph.whole(0, 0, -1))
    return graph, graph.linear("tags", graph.node("Transpose", x, perm=[1, 0, 2]), 7 * directions, 9)


def tied():
    graph = exported([5], 17, tokens=True)
    table = graph.weight("words.weight", 11, 6)
    x = graph.node("Relu", graph.linear("hidden", graph.node("Gather", table, "x"), 6, 6))
    return graph, graph.node("MatMul", x, graph.node("Transpose", table, perm=[1, 0]))


def turned(graph, x, cosines, sines):
    """Rotary positions of {N, heads, positions, size}."""
    half = cosines.shape[-1] // 2
    first, second = (graph.node("Slice", x, graph.whole(begin), graph.whole(begin + half), graph.whole(3))
                     for begin in (0, half))
    exchanged = graph.node("Concat", graph.node("Neg", second), first, axis=-1)
    tables = [graph.node("Constant", value=numpy_helper.from_array(one)) for one in (cosines, sines)]
    return graph.node("Add", graph.node("Mul", x, tables[0]), graph.node("Mul", exchanged, tables[1]))


def grouped(*, scaled=True, causal=True, tables=True):
    """Llama: two heads of keys and values for four of queries, rotary positions, and a softmax without numbers that
    are none."""
    sequence, heads, kv_heads, size = 5, 4, 2, 4
    graph = exported([sequence], 18, tokens=True)
    x = graph.node("Gather", graph.weight("words.weight", 11, 8), "x")
    angles = numpy.outer(numpy.arange(sequence), numpy.tile([1, 0.1], 2)).astype(numpy.float32)

    def part(name, count):
        return graph.heads(graph.linear(name, x, 8, count * size), sequence, count, size)

    def repeated(one):
        wide = graph.node("Expand", graph.node("Unsqueeze", one, graph.whole(2)),
                          graph.whole(1, kv_heads, heads // kv_heads, sequence, size))
        return graph.node("Reshape", wide, graph.whole(0, heads, sequence, size))

    queries, keys, values = part("q", heads), part("k", kv_heads), part("v", kv_heads)
    if tables:
        queries, keys = (turned(graph, one, numpy.cos(angles), numpy.sin(angles)) for one in (queries, keys))
    scores = graph.node("MatMul", queries, graph.node("Transpose", repeated(keys), perm=[0, 1, 3, 2]))
    if scaled:
        scores = graph.node("Mul", scores, graph.number(size ** -0.5))
    if causal:
        seen = graph.constant("seen", numpy.tril(numpy.ones((1, 1, sequence, sequence), bool)))
        scores = graph.node("Add", scores, graph.node("Where", seen, graph.number(0), graph.number(-numpy.inf)))
    shares = graph.node("Softmax", scores, axis=-1)
    shares = graph.node("Where", graph.node("IsNaN", shares), graph.number(0), shares)
    x = graph.node("Transpose", graph.node("MatMul", shares, repeated(values)), perm=[0, 2, 1, 3])
    return graph, graph.linear("head", graph.node("Reshape", x, graph.whole(0, sequence, heads * size)), 16, 11)


def windows():
    """Attention within each half of a sequence, whose keys have no bias."""
    graph = exported([6, 8], 17)
    x = graph.node("Reshape", "x", graph.whole(-1, 3, 8))
    parts = [graph.heads(graph.node("MatMul", x, graph.weight(name, 8, 8)) if name == "k.weight" else
                         graph.linear(name, x, 8, 8), 3, 2, 4) for name in ("q", "k.weight", "v")]
    keys = graph.node("Transpose", parts[1], perm=[0, 1, 3, 2])
    x = graph.dot_product(parts[0], keys, parts[2], (3, 2, 4), False)
    return graph, graph.node("Reshape", graph.linear("head", x, 8, 8), graph.whole(-1, 6, 8))


def common_table():
    """Two blocks of attention to a sequence itself, whose scores have the same table of positions added."""
    graph = exported([5, 6], 17)
    x, table = "x", graph.weight("positions.weight", 5, 5)
    for i in range(2):
        scores = graph.node("MatMul", x, graph.node("Transpose", x, perm=[0, 2, 1]))
        shares = graph.node("Softmax", graph.node("Add", scores, table), axis=-1)
        x = graph.linear(f"block{i}", graph.node("Mul", graph.node("MatMul", shares, x),
                                                 graph.weight(f"gain{i}.weight", 6, around=1.0)), 6, 6)
    return graph, x


def mobile(swish):
    """MobileNetV3 with hard swish as an operator, a product with HardSigmoid, or Paddle's four nodes."""
    graph = exported([3, 8, 8], 14)

    def hard_swish(x):
        if swish == "operator":
            return graph.node("HardSwish", x)
        if swish == "gate":
            return graph.node("Mul", x, graph.node("HardSigmoid", x, alpha=1 / 6, beta=0.5))
        clipped = graph.node("Clip", graph.node("Add", x, graph.number(3)), graph.number(0), graph.number(6))
        return graph.node("Div", graph.node("Mul", x, clipped), graph.number(6))

    first = hard_swish(graph.convolution("first", "x", 3, 8, bias=True, strides=[2, 2]))
    x = graph.node("Conv", first, graph.weight("depthwise.weight", 8, 1, 3, 3), graph.weight("depthwise.bias", 8),
                   group=8, pads=[1, 1, 1, 1])
    gate = graph.convolution("squeeze", graph.node("GlobalAveragePool", x), 8, 4, bias=True, kernel=1)
    gate = graph.convolution("excite", graph.node("Relu", gate), 4, 8, bias=True, kernel=1)
    x = graph.node("Mul", x, graph.node("HardSigmoid", gate, alpha=0.2, beta=0.5))
    x = graph.node("Add", graph.convolution("project", x, 8, 8, bias=True, kernel=1), first)
    return graph, graph.gemm("fc", graph.node("Flatten", graph.node("GlobalAveragePool", x)), 8, 5)


def strided():
    """Paddle: a depthwise convolution that halves the height alone, with nine taps."""
    graph = exported([3, 7, 8], 11)
    x = graph.node("Relu", graph.convolution("first", "x", 3, 6, bias=True))
    x = graph.node("Conv", x, graph.weight("depthwise.weight", 6, 1, 3, 3), group=6, pads=[1, 1, 1, 1], strides=[2, 1])
    return graph, graph.convolution("last", graph.node("Tanh", x), 6, 2)


# What onnx's evaluator does not know: fixed samples, and an empty region of a Resize.
EQUIVALENTS = {
    "yolo_head": lambda: detector(True, -1),
    "yolo_resize": lambda: detector(False, -1),
}

NETWORKS = {
    "keras": lambda: keras(False),
    "keras_kernel_transposed": lambda: keras(True),
    "matlab_mean_image": lambda: matlab([8, 8]),
    "matlab_mean_channels": lambda: matlab([1, 1]),
    "yolo_head": lambda: detector(True),
    "yolo_resize": lambda: detector(False),
    "half_all": lambda: half("all"),
    "half_inside": lambda: half("inside"),
    "half_weight": lambda: half("weight"),
    "training_14": lambda: in_training(14, 3, training_mode=1),
    "training_15_mask": lambda: in_training(15, 3, "mask", training_mode=1),
    "training_15_constant": lambda: in_training(15, 3, "constant", training_mode=1),
    "training_15_frozen": lambda: in_training(15, 1),
    "tagger_lstm": lambda: tagger("LSTM"),
    "tagger_bidirectional": lambda: tagger("LSTM", "bidirectional"),
    "tagger_reverse": lambda: tagger("LSTM", "reverse"),
    "tagger_gru": lambda: tagger("GRU", linear_before_reset=1),
    "tied_table": tied,
    "common_table": common_table,
    "grouped": grouped,
    "grouped_plainly": lambda: grouped(scaled=False, causal=False, tables=False),
    "windows": windows,
    "mobile_operator": lambda: mobile("operator"),
    "mobile_gate": lambda: mobile("gate"),
    "mobile_paddle": lambda: mobile("paddle"),
    "paddle_strides": strided,
}
