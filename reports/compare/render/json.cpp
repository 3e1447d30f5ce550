// Renders a comparison as JSON; schema/comparison-v2.schema.json describes the fields.
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "reports/compare/render/render.h"
#include "reports/compare/words.h"
#include "reports/io/json.h"
#include "reports/io/json_list.h"

namespace parbench::compare {
namespace {

using report::Json;

constexpr int schema_version = 2;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_of(const Side& side) {
  Json json{{"name", side.name},
            {"program", side.program},
            {"version", side.version},
            {"started_utc", side.started_utc},
            {"processes", side.processes}};
  if (side.commit) {
    json["commit"] = *side.commit;
    json["dirty"] = side.dirty;
  }
  return json;
}

Json json_of(const ScenarioFacts& facts) {
  Json json{{"scenario", facts.scenario}, {"machine", facts.machine}, {"common", facts.common}};
  if (!facts.machine_difference.empty()) json["machine_difference"] = facts.machine_difference;
  if (!facts.machine_unknown.empty()) json["machine_unknown"] = facts.machine_unknown;
  if (!facts.hidden_differences.empty()) json["hidden_differences"] = facts.hidden_differences;
  return json;
}

Json json_of(const Measured& measured) {
  Json json{{"seconds", number(measured.seconds)}, {"processes", measured.processes}};
  if (!measured.throttled_by.empty()) json["throttled_by"] = measured.throttled_by;
  if (measured.quota_lost > 0) json["quota_lost"] = measured.quota_lost;
  return json;
}

Json json_of(const Change& change) {
  return {{"value", number(change.value)},
          {"low", number(change.interval.low)},
          {"high", number(change.interval.high)},
          {"confidence", change.interval.confidence}};
}

Json json_of(const Row& row) {
  Json json{{"name", row.name},
            {"label", row.label},
            {"scenario", row.scenario},
            {"state", to_string(row.state)}};
  if (!row.reason.empty()) json["reason"] = row.reason;
  if (const auto verdict = row.verdict()) json["verdict"] = to_string(*verdict);
  if (row.judgement) {
    json["change"] = json_of(row.judgement->change);
    json["p_value"] = row.judgement->p_value;
  }
  if (row.base) json["base"] = json_of(*row.base);
  if (row.now) json["new"] = json_of(*row.now);
  if (row.cuts) json["cuts"] = {{"base", row.cuts->base}, {"new", row.cuts->now}};
  return json;
}

Json json_of(const Pair& pair) {
  Json ratios = Json::object();
  for (const auto& [name, ratio] : pair.log_ratios) ratios[name] = number(ratio);
  return {{"order", pair.now_first ? "BA" : "AB"},
          {"started_utc", pair.started_utc},
          {"seconds", pair.seconds},
          {"log_ratios", std::move(ratios)}};
}

Json list_of(const auto& items) {
  return report::json_list(items, [](const auto& item) { return json_of(item); });
}

Json json_of(const PairedRun& run) {
  return {{"a", run.base_command},     {"b", run.now_command},
          {"measure", run.measure},    {"seed", run.seed},
          {"seconds", run.seconds},    {"max_seconds", run.max_seconds},
          {"looks", run.looks},        {"looks_taken", run.looks_taken},
          {"end", to_string(run.end)}, {"pairs", list_of(run.pairs)}};
}

struct OutcomeFacts {
  std::string_view name;
  int exit_code = 0;
};

OutcomeFacts outcome_facts(Outcome outcome) {
  constexpr std::array<OutcomeFacts, 5> facts{{{"case_failed", 1},
                                               {"regressed", 3},
                                               {"nothing_compared", 4},
                                               {"too_few_decided", 4},
                                               {"nothing_regressed", 0}}};
  return facts.at(static_cast<std::size_t>(outcome));
}

}  // namespace

int exit_code(const Comparison& comparison) {
  const auto end = comparison.pairs ? std::optional(comparison.pairs->end) : std::nullopt;
  if (end == PairsEnd::failed) return 2;
  if (end == PairsEnd::interrupted) return 130;
  return outcome_facts(comparison.outcome()).exit_code;
}

Json to_json(const Comparison& comparison) {
  Json json{{"schema_version", schema_version},
            {"outcome", outcome_facts(comparison.outcome()).name},
            {"exit_code", exit_code(comparison)},
            {"sentence", sentence(comparison)},
            {"rule",
             {{"significance", comparison.rule.significance},
              {"threshold", comparison.rule.threshold},
              {"required_decided", comparison.rule.required_decided}}},
            {"base", json_of(comparison.base)},
            {"new", json_of(comparison.now)},
            {"scenarios", list_of(comparison.scenarios)},
            {"counts",
             {{"regressed", comparison.count(Verdict::regressed)},
              {"improved", comparison.count(Verdict::improved)},
              {"undecided", comparison.count(Verdict::undecided)},
              {"same", comparison.count(Verdict::same)},
              {"failed_now", comparison.count(MatchState::failed_now)},
              {"not_measured", comparison.count(MatchState::not_measured)},
              {"not_comparable", comparison.count(MatchState::not_comparable)},
              {"only_base", comparison.count(MatchState::only_base)},
              {"only_now", comparison.count(MatchState::only_now)}}},
            {"cases", list_of(comparison.rows)},
            {"notes", comparison.notes}};
  if (!comparison.cautions.empty()) json["cautions"] = comparison.cautions;
  if (comparison.pairs) json["ab"] = json_of(*comparison.pairs);
  return json;
}

std::string json_text(const Comparison& comparison) { return report::to_text(to_json(comparison)); }

}  // namespace parbench::compare
