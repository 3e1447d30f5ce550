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


NETWORKS = {
    "residual": residual_network,
    "plain": plain_network,
    "sequence": sequence_network,
    "classifier": classifier,
}
