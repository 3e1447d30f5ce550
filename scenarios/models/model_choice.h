// How users choose a model and its sizes: the axes of scenarios that take one, and the network of a
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

/// The model that most scenarios take when none is asked for.
[[nodiscard]] const std::string& default_model();

/// The axis "model": those that ship, and ONNX files. `usual` is the one where none is asked for.
[[nodiscard]] Axis model_axis(std::string_view usual);
/// An axis for each of `model_size_names`, whose default is the model's, for heads that may be
/// tied, and for open dimensions of files.
[[nodiscard]] std::vector<Axis> model_size_axes();
/// The names of heads that a model may have, the default first.
inline constexpr std::array<std::string_view, 2> head_names{"untied", "tied"};
/// The axes of a training step: the model, the batch, the model's sizes, and what concerns the
/// training of ONNX files. `batch`: what the batch counts.
[[nodiscard]] std::vector<Axis> training_axes(Axis model, std::string batch,
                                              std::optional<Role> batch_role = {});

/// The text that was asked for under that name, or the fallback.
[[nodiscard]] std::string asked_or(const Parameters& asked, std::string_view name,
                                   std::string_view fallback);
/// Adds a choice that the name shows only where it is not the default.
void add_choice(Parameters& parameters, const std::string& name, const Value& choice,
                const Value& by_default);
void add_choice(Parameters& parameters, const std::string& name, const std::string& choice,
                std::string_view by_default);

/// The model of a request, `usual` where none is asked for.
[[nodiscard]] Model model_of(const Scenario::Request& request, std::string_view usual);
/// Adds the model's sizes, with its usual values where none are asked for, its head, and what is
/// asked of a file. Throws UsageError for a size or a head that the user gave and that the model
/// does not have.
void add_model_sizes(const Scenario::Request& request, const Model& model, Parameters& parameters);

/// The network of a resolved case. Throws UsageError for sizes that it cannot be built with.
[[nodiscard]] Network network_of(const Parameters& parameters);

}  // namespace parbench
