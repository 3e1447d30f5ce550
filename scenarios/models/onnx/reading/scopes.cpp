// Expands calls of functions, renames tensors of nested graphs, and adds the outer tensors that a
// nested graph reads to the inputs of its node.
#include "scenarios/models/onnx/reading/scopes.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/models/onnx/reading/limits.h"

namespace parbench::onnx_import {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

void rename(std::string& name, const Names& names) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

void rename_graph(onnx::GraphProto& graph, Names names);

/// Renames the inputs and outputs of a node, including nested graphs, except for names that these
/// define themselves.
void rename_node(onnx::NodeProto& node, const Names& names) {
  for (std::string& name : *node.mutable_input()) rename(name, names);
  for (std::string& name : *node.mutable_output()) rename(name, names);
  for (onnx::AttributeProto& one : *node.mutable_attribute()) {
    if (one.has_g()) rename_graph(*one.mutable_g(), names);
  }
}

void rename_graph(onnx::GraphProto& graph, Names names) {
  for (const onnx::ValueInfoProto& one : graph.input()) names.erase(one.name());
  for (const onnx::TensorProto& one : graph.initializer()) names.erase(one.name());
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& name : node.output()) names.erase(name);
  }
  for (onnx::NodeProto& node : *graph.mutable_node()) rename_node(node, names);
  for (onnx::ValueInfoProto& one : *graph.mutable_output()) rename(*one.mutable_name(), names);
}

// --- functions ---

std::string key_of(const std::string& domain, const std::string& name) {
  return (domain == "ai.onnx" ? "" : domain) + ':' + name;
}

class Inliner {
 public:
  explicit Inliner(const onnx::ModelProto& model) {
    for (const onnx::FunctionProto& one : model.functions()) {
      functions_.emplace(key_of(one.domain(), one.name()), &one);
    }
  }

  void run(onnx::GraphProto& graph) {
    if (!functions_.empty()) expand(*graph.mutable_node(), 0);
  }

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  void expand(Nodes& nodes, int depth) {
    constexpr int max_depth = 32;
    if (depth > max_depth) throw std::runtime_error("its functions call each other recursively");
    Nodes all;
    for (onnx::NodeProto& node : nodes) {
      for (onnx::AttributeProto& one : *node.mutable_attribute()) {
        if (one.has_g()) expand(*one.mutable_g()->mutable_node(), depth + 1);
      }
      const auto found = functions_.find(key_of(node.domain(), node.op_type()));
      if (found == functions_.end()) {
        add(all, std::move(node));
        continue;
      }
      Nodes body = body_of(node, *found->second);
      expand(body, depth + 1);
      for (onnx::NodeProto& one : body) add(all, std::move(one));
    }
    nodes.Swap(&all);
  }

  void add(Nodes& nodes, onnx::NodeProto node) {
    if (++count_ > max_nodes) {
      throw std::runtime_error(
          fmt::format("its functions expand to more than {} nodes", max_nodes));
    }
    *nodes.Add() = std::move(node);
  }

  [[nodiscard]] Nodes body_of(const onnx::NodeProto& call, const onnx::FunctionProto& function) {
    Names names;
    const std::string prefix = fmt::format("{}/{}{}/", call.name(), call.op_type(), ++calls_);
    for (const onnx::NodeProto& node : function.node()) {
      for (const std::string& name : node.output()) {
        if (!name.empty()) names[name] = prefix + name;
      }
    }
    const auto bind = [&](const auto& formal, const auto& given) {
      for (int i = 0; i < formal.size(); ++i) names[formal[i]] = i < given.size() ? given[i] : "";
    };
    bind(function.input(), call.input());
    for (int i = 0; i < function.output_size() && i < call.output_size(); ++i) {
      if (!call.output(i).empty()) names[function.output(i)] = call.output(i);
    }
    Nodes body = function.node();
    for (onnx::NodeProto& node : body) {
      rename_node(node, names);
      node.set_name(prefix + node.name());
      replace_references(node, call);
    }
    return body;
  }

  /// Replaces references to attributes of the call by the attributes' values; removes references to
  /// attributes that the call lacks.
  void replace_references(onnx::NodeProto& node, const onnx::NodeProto& call) {
    auto* attributes = node.mutable_attribute();
    for (int i = attributes->size(); i-- > 0;) {
      onnx::AttributeProto& one = (*attributes)[i];
      if (one.has_g()) {
        for (onnx::NodeProto& nested : *one.mutable_g()->mutable_node()) {
          replace_references(nested, call);
        }
      }
      if (one.ref_attr_name().empty()) continue;
      const auto given =
          std::ranges::find(call.attribute(), one.ref_attr_name(),
                            [](const onnx::AttributeProto& attribute) { return attribute.name(); });
      if (given == call.attribute().end()) {
        attributes->DeleteSubrange(i, 1);
        continue;
      }
      const std::string name = one.name();
      one = *given;
      one.set_name(name);
    }
  }

  std::map<std::string, const onnx::FunctionProto*, std::less<>> functions_;
  int count_ = 0;
  int calls_ = 0;
};

// --- nested graphs ---

/// Renames tensors that a nested graph defines, and returns the outer names that it reads, in
/// order.
std::vector<std::string> separate(onnx::GraphProto& graph, const std::string& prefix,
                                  const Names& outer);

/// Separates the nested graphs of a node, and appends to the node's inputs the outer names that
/// these graphs read.
void separate_nested(onnx::NodeProto& node, const Names& names) {
  std::set<std::string, std::less<>> known(node.input().begin(), node.input().end());
  std::vector<std::string> captured;
  for (onnx::AttributeProto& one : *node.mutable_attribute()) {
    if (!one.has_g()) continue;
    const std::string owner = node.output_size() > 0 ? node.output(0) : node.name();
    const std::string prefix = fmt::format("{}/{}/", owner, one.name());
    for (std::string& name : separate(*one.mutable_g(), prefix, names)) {
      if (known.insert(name).second) captured.push_back(std::move(name));
    }
  }
  for (std::string& name : captured) node.add_input(std::move(name));
}

std::vector<std::string> separate(onnx::GraphProto& graph, const std::string& prefix,
                                  const Names& outer) {
  Names names = outer;
  std::set<std::string, std::less<>> own;
  const auto define = [&](std::string& name) {
    if (name.empty()) return;
    names[name] = prefix + name;
    name = prefix + name;
    own.insert(name);
  };
  for (onnx::ValueInfoProto& one : *graph.mutable_input()) define(*one.mutable_name());
  for (onnx::TensorProto& one : *graph.mutable_initializer()) define(*one.mutable_name());
  std::vector<std::string> read;
  std::set<std::string, std::less<>> known;
  const auto note = [&](const std::string& name) {
    if (!name.empty() && !own.contains(name) && known.insert(name).second) read.push_back(name);
  };
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (std::string& name : *node.mutable_input()) rename(name, names);
    for (std::string& name : *node.mutable_output()) define(name);
    separate_nested(node, names);
    for (const std::string& name : node.input()) note(name);
  }
  for (onnx::ValueInfoProto& one : *graph.mutable_output()) {
    rename(*one.mutable_name(), names);
    note(one.name());
  }
  return read;
}

}  // namespace

void join_scopes(onnx::ModelProto& model) {
  Inliner(model).run(*model.mutable_graph());
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) separate_nested(node, {});
}

}  // namespace parbench::onnx_import
