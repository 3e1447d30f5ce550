// Selection of a model and its sizes: the axes of scenarios with a model, and the network of a
// case.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"
#include "scenarios/models/models.h"

namespace parbench {

/// Returns the default model of most scenarios.
[[nodiscard]] const std::string& default_model();

/// Returns the axis "model": shipped models and ONNX files. `usual`: the default; `published`: the
/// values of the published preset, by default only `usual`.
[[nodiscard]] Axis model_axis(const std::string& usual, std::vector<Value> published = {});
/// Returns the axes for the sizes of models (`model_size_names`, by default those of the model),
/// for the head, and for the open dimensions and the output of ONNX files.
[[nodiscard]] std::vector<Axis> model_size_axes();
/// Names of the kinds of heads, the default first.
inline constexpr std::array<std::string_view, 2> head_names{"untied", "tied"};
/// Returns the axes of a training step: the model, the batch, the sizes of the model, options for
/// training ONNX files, and further axes.
[[nodiscard]] std::vector<Axis> training_axes(Axis model, std::optional<Role> batch_role,
                                              const std::vector<Axis>& further);

/// Adds a choice. The name of the case omits the choice if it is the default.
void add_choice(Parameters& parameters, const std::string& name, const Value& choice,
                const Value& by_default);
void add_choice(Parameters& parameters, const std::string& name, const std::string& choice,
                std::string_view by_default);

/// Adds the value that the user requested for a parameter, or the default, which the name of the
/// case omits.
void add_asked(const Parameters& asked, const std::string& name, const Value& by_default,
               Parameters& parameters);

/// Returns the requested model, or `usual`.
[[nodiscard]] Model model_of(const Scenario::Request& request, std::string_view usual);
/// Adds the model's sizes (with default values if not requested), the kind of head, and options for
/// files. Throws UsageError for a size that the user requested and the model lacks, and for --head
/// if the model has only one kind of head.
void add_model_sizes(const Scenario::Request& request, const Model& model, Parameters& parameters);

/// Returns the network of a resolved case. Throws UsageError for invalid sizes.
[[nodiscard]] Network network_of(const Parameters& parameters);

}  // namespace parbench
