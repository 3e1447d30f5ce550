"""Small ONNX files, each with one attribute of one operator away from its default, asymmetric where it can
be, or with a default that differs between operator sets."""
import numpy
from onnx import TensorProto, helper

from model_files.graphs import Graph


def image_network(operator, shape=(4, 7, 8), opset=17):
    """A convolution, the operator after it, and a mean in front of a linear layer, so that all places of
    its result count differently."""
    graph = Graph(list(shape), opset=opset)
    source = graph.convolution("first", "x", shape[0], 4, bias=True)
    made, channels = operator(graph, source)
    return graph, graph.convolution("last", graph.node("Tanh", made), channels, 2)


def image(op, channels=4, *, opset=17, shape=(4, 7, 8), inputs=(), **attributes):
    """The operator reads the image, and what `inputs` makes of the graph."""
    def operator(graph, source):
        return graph.node(op, source, *[make(graph) for make in inputs], **attributes), channels
    return lambda: image_network(operator, shape, opset)


def weight(*shape):
    return lambda graph: graph.weight("operator.weight", *shape)


def whole(*values):
    return lambda graph: graph.whole(*values)


def number(value):
    return lambda graph: graph.number(value)


def convolution(kernel=3, group=1, shape=(4, 7, 8), **attributes):
    return image("Conv", 6, shape=shape, inputs=[weight(6, 4 // group, kernel, kernel)], group=group,
                 **attributes)


def transposed(group=1, **attributes):
    return image("ConvTranspose", 6, shape=(4, 5, 6), inputs=[weight(4, 6 // group, 3, 3)], group=group,
                 **attributes)


def transposed_parts():
    """Two groups as two nodes."""
    def operator(graph, source):
        weights = graph.weight("operator.weight", 4, 3, 3, 3)

        def half(name, axis, first):
            return graph.node("Slice", name, graph.whole(first), graph.whole(first + 2), graph.whole(axis))
        made = [graph.node("ConvTranspose", half(source, 1, first), half(weights, 0, first))
                for first in (0, 2)]
        return graph.node("Concat", *made, axis=1), 6
    return lambda: image_network(operator, (4, 5, 6))


def normalised(**attributes):
    def operator(graph, source):
        parameters = [graph.weight("norm.weight", 4, around=1.0), graph.weight("norm.bias", 4),
                      graph.weight("norm.mean", 4), graph.weight("norm.var", 4, around=1.0)]
        return graph.node("BatchNormalization", source, *parameters, training_mode=1, **attributes), 4
    return lambda: image_network(operator)


def parts(opset, sizes=(), **attributes):
    """The second part of the channels, of two."""
    def operator(graph, source):
        names = ["front", "back"]
        graph.nodes.append(helper.make_node("Split", [source, *[graph.whole(*sizes)][:len(sizes)]], names,
                                            axis=1, **attributes))
        return names[1], 4 - (sizes or attributes.get("split", [2]))[0]
    return lambda: image_network(operator, opset=opset)


def joined(axis):
    def operator(graph, source):
        return graph.node("Concat", graph.node("Sigmoid", source), source, axis=axis), 8
    return lambda: image_network(operator)


def mean(opset, keepdims=1, **attributes):
    """In front of the linear layer of a classifier."""
    def make():
        graph = Graph([4, 7, 8], opset=opset)
        x = graph.convolution("first", "x", 4, 6, bias=True)
        x = graph.node("ReduceMean", x, *[graph.whole(-2, -1)][:opset >= 18], keepdims=keepdims, **attributes)
        return graph, graph.gemm("fc", graph.node("Flatten", x) if keepdims else x, 6, 5)
    return make


def rows(operator, shape=(12,), opset=17):
    """`operator` makes rows of 9 of rows of 9; `shape` is of the network's input, whose last is 12."""
    def make():
        graph = Graph(list(shape), opset=opset)
        x = operator(graph, graph.linear("first", "x", 12, 9))
        return graph, graph.linear("last", x, 9, 4)
    return make


def row(op, *inputs, shape=(12,), opset=17, **attributes):
    return rows(lambda graph, x: graph.node(op, x, *[make(graph) if make else "" for make in inputs],
                                            **attributes), shape, opset)


def layer_norm(**attributes):
    return rows(lambda graph, x: graph.node(
        "LayerNormalization", x, graph.weight("norm.weight", 9, around=1.0), graph.weight("norm.bias", 9),
        **attributes), (5, 12))


def gemm(weights, **attributes):
    return rows(lambda graph, x: graph.node("Gemm", x, graph.weight("operator.weight", *weights),
                                            graph.weight("operator.bias", 9), **attributes))


def ending(op, opset, **attributes):
    def make():
        graph = Graph([12], opset=opset)
        return graph, graph.node(op, graph.gemm("fc", "x", 12, 5), **attributes)
    return make


def regrouped(opset, by_inputs):
    """Dimensions of one inserted and removed by attributes or by inputs."""
    def axes(graph, *values):
        return [[graph.whole(*values)], {}] if by_inputs else [[], {"axes": list(values)}]

    def operator(graph, x):
        given, named = axes(graph, *((3, 1) if by_inputs else (1, 3)))
        x = graph.node("Unsqueeze", x, *given, **named)
        given, named = axes(graph, 1, -2)
        return graph.node("Squeeze", x, *given, **named)
    return rows(operator, (5, 12), opset)


def lstm(layout):
    def make():
        graph = Graph([5, 6])
        x = "x" if layout else graph.node("Transpose", "x", perm=[1, 0, 2])
        x = graph.lstm("lstm", x, 6, 7, layout=layout)
        return graph, graph.linear("head", x if layout else graph.node("Transpose", x, perm=[1, 0, 2]), 7, 4)
    return make


def masked(mask):
    """Attention over five tokens; `mask` adds a mask to its scores, made of a constant of one number."""
    def make():
        graph = Graph([5], tokens=True)
        x = graph.node("Gather", graph.weight("wte.weight", 11, 8), "x")
        x = graph.linear("qkv", x, 8, 24)
        x = graph.attention(x, 5, 2, 4, lambda scores: mask(graph, scores))
        return graph, graph.linear("head", x, 8, 11)
    return make


def filled(graph, kind, number):
    return graph.node("ConstantOfShape", graph.whole(5, 5), value=helper.make_tensor("value", kind, [1], [number]))


def allowed(graph, scores):
    lower = graph.node("Trilu", filled(graph, TensorProto.BOOL, True), upper=0)
    return graph.node("Where", lower, scores, graph.number(-numpy.inf))


def added(graph, scores):
    upper = graph.node("Trilu", filled(graph, TensorProto.FLOAT, -numpy.inf),
                       graph.constant("diagonal", numpy.int64(1)))
    return graph.node("Add", scores, upper)


# Networks of the same weights and results for what onnx's evaluator does not know or does otherwise than
# the specification: VALID, groups of transposed convolutions, `output_shape` and `layout`.
EQUIVALENTS = {
    "conv_auto_pad_valid": convolution(pads=[0, 0, 0, 0]),
    "transposed_group": transposed_parts(),
    "transposed_output_shape": transposed(strides=[2, 2], pads=[1, 1, 0, 1]),
    "lstm_layout": lstm(0),
}


NETWORKS = {
    "conv_strides": convolution(strides=[2, 2]),
    "conv_dilations": convolution(dilations=[2, 2], pads=[2, 2, 2, 2]),
    "conv_group": convolution(group=2),
    "conv_pads": convolution(pads=[0, 1, 2, 1]),
    "conv_pads_of_one_edge": convolution(pads=[0, 0, 0, 2]),
    "conv_auto_pad_upper": convolution(kernel=3, shape=(4, 8, 10), strides=[2, 2], auto_pad="SAME_UPPER"),
    "conv_auto_pad_lower": convolution(kernel=3, shape=(4, 8, 10), strides=[2, 2], auto_pad="SAME_LOWER"),
    "conv_auto_pad_valid": convolution(auto_pad="VALID"),
    "transposed_default": transposed(),
    "transposed_dilations": transposed(dilations=[2, 2]),
    "transposed_group": transposed(group=2),
    "transposed_pads": transposed(strides=[2, 2], pads=[1, 0, 0, 2]),
    "transposed_output_padding": transposed(strides=[3, 3], output_padding=[2, 1]),
    "transposed_output_shape": transposed(strides=[2, 2], output_shape=[10, 11]),
    "transposed_auto_pad_upper": transposed(strides=[2, 2], auto_pad="SAME_UPPER"),
    "transposed_auto_pad_lower": transposed(strides=[2, 2], auto_pad="SAME_LOWER"),
    "max_pool_default": image("MaxPool", kernel_shape=[3, 3]),
    "max_pool_pads": image("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1]),
    "max_pool_ceil_mode": image("MaxPool", shape=(4, 8, 10), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    "max_pool_auto_pad_upper": image("MaxPool", shape=(4, 8, 10), kernel_shape=[3, 3], strides=[2, 2],
                                     auto_pad="SAME_UPPER"),
    "average_pool_default": image("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    "average_pool_counts_padding": image("AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                                         count_include_pad=1),
    "average_pool_pads": image("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1]),
    "average_pool_ceil_mode": image("AveragePool", shape=(4, 8, 10), kernel_shape=[3, 3], strides=[2, 2],
                                    ceil_mode=1),
    "response_norm_default": image("LRN", size=3),
    "response_norm": image("LRN", size=5, alpha=0.75, beta=0.5, bias=2.0),
    "batch_norm_default": normalised(),
    "batch_norm_epsilon": normalised(epsilon=0.25),
    "clip": image("Clip", inputs=[number(-0.25), number(0.5)]),
    "clip_min": image("Clip", inputs=[number(-0.25)]),
    "clip_attributes": image("Clip", opset=10, min=-0.25, max=0.5),
    "clip_max_attribute": image("Clip", opset=10, max=0.5),
    "pad": image("Pad", inputs=[whole(0, 0, 1, 0, 0, 0, 0, 2)]),
    "pad_attributes": image("Pad", opset=10, pads=[0, 0, 1, 0, 0, 0, 0, 2]),
    "pad_axes": image("Pad", opset=18, inputs=[whole(1, 0, 0, 2), number(0), whole(2, 3)]),
    "pad_axes_reversed": image("Pad", opset=18, inputs=[whole(1, 0, 0, 2), number(0), whole(-1, 2)]),
    "slice": image("Slice", inputs=[whole(1, -5), whole(6, 99), whole(2, 3)]),
    "slice_attributes": image("Slice", opset=9, starts=[1, -5], ends=[6, 99], axes=[2, 3]),
    "slice_of_channels": image("Slice", 2, inputs=[whole(1), whole(3), whole(-3)]),
    "split": parts(17, sizes=(1, 3)),
    "split_attribute": parts(12, split=[3, 1]),
    "split_equally": parts(13),
    "split_num_outputs": parts(18, num_outputs=2),
    "concat": joined(1),
    "concat_negative_axis": joined(-3),
    "mean_keepdims": mean(17, axes=[2, 3]),
    "mean_drops_dimensions": mean(17, 0, axes=[-1, 2]),
    "mean_axes_input": mean(18),
    "mean_axes_input_drops": mean(18, 0),
    "gelu_default": row("Gelu", opset=20),
    "gelu_tanh": row("Gelu", opset=20, approximate="tanh"),
    "dropout_of_zero": row("Dropout", number(0)),
    "dropout_attribute_of_zero": row("Dropout", opset=11, ratio=0.0),
    "layer_norm_default": layer_norm(),
    "layer_norm_epsilon": layer_norm(epsilon=0.25),
    "layer_norm_axis": layer_norm(axis=2),
    "gemm_default": gemm((9, 9)),
    "gemm_transposed": gemm((9, 9), transB=1),
    "gemm_factors": gemm((9, 9), alpha=0.5, beta=-2.0),
    "transpose_default": rows(lambda graph, x: graph.node("Transpose", graph.node("Transpose", x))),
    "regrouped_by_attributes": regrouped(12, False),
    "regrouped_by_inputs": regrouped(13, True),
    "reshape_allowzero": row("Reshape", whole(-1, 9), allowzero=1),
    "reshape_zero": row("Reshape", whole(0, -1)),
    "squeeze_all": rows(lambda graph, x: graph.node(
        "Squeeze", graph.node("Unsqueeze", x, graph.whole(1))), (5, 12)),
    "trilu_lower": masked(allowed),
    "trilu_default": masked(added),
    "softmax_default": ending("Softmax", 13),
    "softmax_default_of_12": ending("Softmax", 12),
    "softmax_axis": ending("Softmax", 12, axis=1),
    "log_softmax_default": ending("LogSoftmax", 13),
    "log_softmax_default_of_12": ending("LogSoftmax", 12),
    "lstm_layout": lstm(1),
    "lstm_default_layout": lstm(0),
}
