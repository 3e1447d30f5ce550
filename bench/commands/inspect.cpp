// `inspect`: lists the layers and cut points of a model.
#include <fmt/format.h>

#include <cctype>
#include <map>
#include <optional>

#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/commands/inspection.h"
#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/context.h"
#include "scenarios/models/model_choice.h"

namespace parbench {
namespace {

constexpr CommandText inspect_help{
    .name = "inspect",
    .summary = "The layers of a model, and where a pipeline can divide it",
    .examples =
        "  parbench inspect resnet50 --image 224 --batch 32\n"
        "      Shapes, parameters, FLOPs, memory, and the points where stages can begin.\n"
        "  parbench inspect my.onnx --format json -o my.json\n"
        "      The same for an ONNX file, to be read by a program.\n",
    .exit_codes =
        "0 done; 1 the output could not be written to its end; 2 bad usage, a model that "
        "cannot be read, or a path that cannot be written."};

class Inspect final : public Command {
 public:
  Inspect() : Command(inspect_help) {}

  std::vector<FlagRow> flags() override {
    Axis model = choice_rule("MODEL", "FILE.onnx, or one of `parbench list models`", model_names());
    model.file_suffix = ".onnx";
    std::vector<FlagRow> rows{
        {.value = std::move(model), .required = true, .target = &model_},
        number_flag("batch",
                    "Samples of a training step; default: those of preset quick for "
                    "this model",
                    AxisKind::integer, 1, max_batch, "N", &batch_)};
    for (Axis size : model_size_axes()) {
      if (size.name == "dim" || size.name == "prediction" || size.name == "head") continue;
      char& first = size.description.front();
      first = static_cast<char>(std::toupper(static_cast<unsigned char>(first)));
      rows.push_back({.value = size, .placeholder = "N", .target = &sizes_[size.name]});
    }
    rows.push_back(choice_flag(
        "head",
        "Output projection of language models: weights of its own (untied, the default), or "
        "the embedding's table (tied)",
        {head_names.begin(), head_names.end()}, "untied|tied", &head_));
    rows.push_back(text_flag("dim",
                             "Sizes of dimensions that an ONNX file leaves open, as "
                             "sequence=128, several joined by '+'",
                             "NAME=N[+NAME=N…]", &dimensions_));
    rows.push_back(
        text_flag("prediction",
                  "Output of an ONNX file from which the loss is computed; default: the first one",
                  "NAME", &prediction_));
    rows.push_back(
        choice_flag("loss", "Loss of an ONNX file; default: the loss at the end of its graph",
                    {loss_names.begin(), loss_names.end()}, "mse|cross-entropy", &loss_));
    rows.push_back(choice_flag("format",
                               "text (the default): tables; json: all numbers; html: a page",
                               {"text", "json", "html"}, "text|json|html", &format_));
    rows.push_back(width_flag(width_));
    rows.push_back(output_flag(output_));
    return rows;
  }

  ExitCode run() override {
    Model model = model_named(model_, file_options());
    if (!head_.empty()) {
      const Model tied = with_tied_head(model);
      if (head_ != head_names.front()) model = tied;
    }
    std::vector<std::string> inputs;
    if (model_.ends_with(".onnx")) inputs.push_back(model_);
    check_output(output_, inputs);
    const Network network = make_network(model, given_sizes(model));
    const std::int64_t batch = batch_ ? *batch_ : model.quick_batch;
    check_batch(network, batch);
    Context context(Machine().open("cpu:0"), {.measures = false});
    const NetworkFacts facts = facts_of(context.stream(0, StreamKind::compute), network, batch);
    write_output(shown({model_, network, facts, batch, notes_on(network)}), output_);
    return ExitCode::measured;
  }

 private:
  static constexpr double max_batch = 1 << 20;

  [[nodiscard]] FileOptions file_options() const {
    FileOptions options;
    if (!loss_.empty()) options.loss = loss_named(loss_);
    if (!dimensions_.empty()) options.dimensions = dimensions_named(dimensions_);
    options.prediction = prediction_;
    return options;
  }

  [[nodiscard]] ModelSizes given_sizes(const Model& model) const {
    ModelSizes given;
    for (const auto& [name, size] : sizes_) {
      if (!size) continue;
      check_has_size(model, name);
      given[name] = *size;
    }
    return given;
  }

  /// Returns a note on a model from a file that has convolutions, but no normalisations; otherwise
  /// empty.
  [[nodiscard]] std::vector<std::string> notes_on(const Network& network) const {
    const std::size_t count = convolutions_without_normalisation(network);
    if (count == 0 || !model_.ends_with(".onnx")) return {};
    return {fmt::format(
        "{} and no normalisation. If the model has batch normalisations, the export has folded "
        "them into the convolutions, and a training step of the file takes less time than one of "
        "the model. PyTorch keeps them with torch.onnx.export(model.train(), …, dynamo=False, "
        "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False); its newer exporter "
        "(dynamo=True, the default) folds them in training mode too.",
        format_count(count, "convolution"))};
  }

  static void check_batch(const Network& network, std::int64_t batch) {
    if (batch >= network.min_samples() && batch <= network.max_samples()) return;
    throw UsageError(fmt::format("--batch: {} of {} cannot be computed; allowed are {} to {}",
                                 format_count(batch, "sample"), network.name, network.min_samples(),
                                 network.max_samples()));
  }

  [[nodiscard]] std::string shown(const Inspection& inspection) const {
    if (format_ == "json") return inspection_json(inspection);
    if (format_ == "html") return inspection_html(inspection);
    return inspection_text(inspection, text_style(width_, output_));
  }

  std::string model_;
  std::optional<int> batch_;
  std::map<std::string, std::optional<int>, std::less<>> sizes_;
  std::string head_;
  std::string dimensions_;
  std::string prediction_;
  std::string loss_;
  std::string format_ = "text";
  std::optional<int> width_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_inspect(const Program&) { return std::make_unique<Inspect>(); }

}  // namespace parbench
