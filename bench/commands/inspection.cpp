// Tables of layers and of units, and their numbers as JSON.
#include "bench/commands/inspection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/units/units.h"
#include "reports/io/json_list.h"
#include "reports/text/paragraph.h"
#include "reports/text/table.h"
#include "reports/views/html/html_frame.h"
#include "reports/views/html/html_table.h"

namespace parbench {
namespace {

using report::Json;
using report::TableCell;

std::string shape_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "×")); }

std::string input_text(const Network& network) {
  if (network.vocabulary == 0) return "input " + shape_text(network.input);
  return fmt::format("input {} tokens of {}", shape_text(network.input), network.vocabulary);
}

std::vector<std::string> caption_of(const Inspection& inspection) {
  const Network& network = inspection.network;
  std::vector<std::string> items{inspection.model};
  if (network.name.starts_with(inspection.model)) {
    items = {network.name};
  } else if (!inspection.model.ends_with(network.name)) {
    items.push_back(network.name);
  }
  items.insert(items.end(), {input_text(network), fmt::format("batch {}", inspection.batch), "f32",
                             fmt::format("loss {}", to_string(network.loss))});
  return items;
}

/// Shortens names for tables, because exporters write long paths. JSON has the whole names.
TableCell name_of_row(const std::string& name) {
  constexpr std::size_t max_width = 48;
  return {.text = report::shortened(name, max_width)};
}

TableCell count_of(std::int64_t count) {
  return {.text = count == 0 ? std::string(report::not_applicable) : fmt::format("{}", count),
          .number = static_cast<double>(count)};
}

TableCell flops_of_row(double flops) {
  return {.text = flops == 0 ? std::string(report::not_applicable) : format_amount(flops, "FLOP"),
          .number = flops};
}

TableCell bytes_of_row(std::size_t bytes) {
  return {.text = bytes == 0 ? std::string(report::not_applicable)
                             : format_bytes(static_cast<double>(bytes)),
          .number = static_cast<double>(bytes)};
}

/// A table with one row for each item and a total. In a narrow terminal, columns with higher ranks
/// (`narrow`) are kept first; columns with rank 0 always are.
template <class Facts>
class TableOf {
 public:
  TableOf(const std::vector<Facts>& items, const NetworkAmounts& total)
      : items_(items), total_(total) {
    table_.rows.resize(items.size());
    table_.rows.push_back({report::Emphasis::bold});
  }

  template <class MakeCell>
  void add(report::TableColumn column, const MakeCell& cell,
           TableCell of_total = {.text = std::string(report::not_applicable)}) {
    for (const Facts& item : items_) column.cells.push_back(TableCell{cell(item)});
    column.cells.push_back(std::move(of_total));
    table_.columns.push_back(std::move(column));
  }

  /// Adds a column with one amount of each item and of the total.
  template <class MakeCell>
  void add_amount(report::TableColumn column, const MakeCell& cell) {
    add(
        std::move(column), [&](const Facts& one) { return cell(one.amounts); }, cell(total_));
  }

  void add_amounts() {
    using Amounts = NetworkAmounts;
    add_amount({.title = "parameters", .narrow = {60}},
               [](const Amounts& of) { return count_of(of.parameters); });
    add_amount({.title = "forward", .narrow = {40}},
               [](const Amounts& of) { return flops_of_row(of.forward_flops); });
    add_amount({.title = "step", .narrow = {50}},
               [](const Amounts& of) { return flops_of_row(of.step_flops); });
    add_amount({.title = "kept", .narrow = {45}},
               [](const Amounts& of) { return bytes_of_row(of.kept_bytes); });
  }

  [[nodiscard]] report::Table take() {
    table_.complete_in = "--format json";
    return std::move(table_);
  }

 private:
  const std::vector<Facts>& items_;
  const NetworkAmounts& total_;
  report::Table table_;
};

report::Table table_of_layers(const NetworkFacts& facts) {
  using report::Align;
  TableOf<LayerFacts> table(facts.layers, facts.total);
  table.add({.title = "layer", .align = Align::left, .verbatim = true, .narrow = {0, true}},
            [](const LayerFacts& one) { return name_of_row(one.name); }, {.text = "total"});
  table.add({.title = "kind", .align = Align::left, .narrow = {0, true}},
            [](const LayerFacts& one) { return TableCell{.text = one.kind}; },
            {.text = format_count(facts.layers.size(), "layer")});
  table.add({.title = "reads", .align = Align::left, .verbatim = true, .narrow = {10}},
            [](const LayerFacts& one) {
              return TableCell{.text = fmt::format("{}", fmt::join(one.reads, ", "))};
            });
  table.add({.title = "output", .align = Align::left, .narrow = {70}},
            [](const LayerFacts& one) { return TableCell{.text = shape_text(one.output)}; });
  table.add_amounts();
  return table.take();
}

report::Table table_of_units(const NetworkFacts& facts) {
  using report::Align;
  TableOf<UnitFacts> table(facts.units, facts.total);
  table.add({.title = "unit", .align = Align::left, .verbatim = true, .narrow = {0, true}},
            [](const UnitFacts& one) { return name_of_row(one.name); }, {.text = "total"});
  const auto count = [](std::size_t value) { return count_of(static_cast<std::int64_t>(value)); };
  table.add_amount({.title = "layers", .narrow = {20}},
                   [&](const NetworkAmounts& of) { return count(of.layers); });
  table.add({.title = "branches", .narrow = {65}},
            [&](const UnitFacts& one) { return count(one.branches); });
  table.add({.title = "tensors in", .narrow = {15}},
            [&](const UnitFacts& one) { return count(one.crossing_tensors); });
  table.add({.title = "bytes in", .narrow = {70}},
            [](const UnitFacts& one) { return bytes_of_row(one.crossing_bytes); });
  table.add_amounts();
  return table.take();
}

std::vector<std::string> explanations() {
  return {
      "forward, step: FLOPs of the forward pass, and of a training step with backward pass and "
      "update; the total includes the loss. kept: activations stored for the backward pass.",
      "branches: number of layers that can run at once. bytes in: data that enters the unit in the "
      "forward pass; its gradients, equally large, return."};
}

Json json_of(const NetworkAmounts& amounts) {
  return {{"layers", amounts.layers},
          {"parameters", amounts.parameters},
          {"forward_flops", amounts.forward_flops},
          {"step_flops", amounts.step_flops},
          {"kept_bytes", amounts.kept_bytes}};
}

Json json_of(const LayerFacts& layer) {
  Json json{{"name", layer.name},
            {"kind", layer.kind},
            {"unit", layer.unit},
            {"reads", layer.reads},
            {"output", layer.output}};
  json.update(json_of(layer.amounts));
  json.erase("layers");
  return json;
}

Json json_of(const UnitFacts& unit) {
  Json json{{"name", unit.name},
            {"branches", unit.branches},
            {"crossing_tensors", unit.crossing_tensors},
            {"crossing_bytes", unit.crossing_bytes}};
  json.update(json_of(unit.amounts));
  return json;
}

Json json_of_all(const auto& all) {
  return report::json_list(all, [](const auto& one) { return json_of(one); });
}

}  // namespace

std::string inspection_text(const Inspection& inspection, const report::TextStyle& style) {
  report::Table layers = table_of_layers(inspection.facts);
  layers.captions = {caption_of(inspection)};
  std::string text =
      to_text(layers, style) + '\n' + to_text(table_of_units(inspection.facts), style);
  for (const std::string& note : inspection.notes) {
    text += '\n' + report::hanging("! ", note, style);
  }
  for (const std::string& line : explanations()) {
    text += '\n';
    for (const std::string& part : report::wrapped(line, style.width)) text += part + '\n';
  }
  return text;
}

std::string inspection_html(const Inspection& inspection) {
  const report::WebAssets assets{.style = report::built_in_web_assets().style, .script = {}};
  report::HtmlWriter html;
  open_page(html, assets, "parbench: " + inspection.model, {});
  html.element("p", fmt::format("{}", fmt::join(caption_of(inspection), " · ")));
  html.raw("\n<main>\n");
  for (const std::string& note : inspection.notes) {
    html.element("p", note, {{"class", "note"}}).raw("\n");
  }
  const auto section = [&](const std::string& id, std::string_view title,
                           const report::Table& table) {
    html.open("section", {{"class", "card"}}).element("h2", title).raw("\n");
    write_table(html, table, {"cases", id, std::string(title)});
    html.close("section").raw("\n");
  };
  section("layers", "Layers", table_of_layers(inspection.facts));
  section("units", "Units", table_of_units(inspection.facts));
  for (const std::string& line : explanations()) html.element("p", line).raw("\n");
  html.raw("</main>\n");
  close_page(html, assets, "parbench-data", [] { return std::string("{}"); });
  return html.take();
}

std::string inspection_json(const Inspection& inspection) {
  const Network& network = inspection.network;
  const Json json{{"model", inspection.model},
                  {"network", network.name},
                  {"input", network.input},
                  {"vocabulary", network.vocabulary},
                  {"batch", inspection.batch},
                  {"dtype", "f32"},
                  {"loss", to_string(network.loss)},
                  {"notes", inspection.notes},
                  {"layers", json_of_all(inspection.facts.layers)},
                  {"units", json_of_all(inspection.facts.units)},
                  {"total", json_of(inspection.facts.total)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace parbench
