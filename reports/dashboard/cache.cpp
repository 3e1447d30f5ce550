// The cache as JSON behind a line with its checksum.
#include "reports/dashboard/cache.h"

#include <fmt/format.h>

#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "reports/dashboard/content_id.h"
#include "reports/file.h"
#include "reports/json.h"

namespace parbench::report {
namespace {

/// Raised when the meaning of anything below changes.
constexpr int cache_version = 1;

std::string header(const std::string& text) {
  return fmt::format("parbench dashboard cache {} {}\n", cache_version, content_id(text));
}

// ---------------------------------------------------------------------------------------- writing

Json to_json(const CaseIdentity& identity) {
  Json parameters = Json::array();
  for (const auto& [name, value] : identity.parameters) {
    parameters.push_back({name, std::visit([](const auto& v) { return Json(v); }, value)});
  }
  return Json::array({identity.strategy, std::move(parameters), identity.dtype, identity.graph});
}

/// [identity, median, low, high, confidence], as far as there are such.
Json to_json(const CaseFigures& figures) {
  Json list = Json::array({figures.identity});
  if (figures.median) list.push_back(*figures.median);
  if (figures.interval) {
    list.insert(list.end(),
                {figures.interval->low, figures.interval->high, figures.interval->confidence});
  }
  return list;
}

Json to_json(const ScenarioSummary& scenario) {
  Json cases = Json::array();
  for (const CaseFigures& figures : scenario.cases) cases.push_back(to_json(figures));
  return Json::array(
      {scenario.scenario, scenario.machine_id, scenario.machine_text, std::move(cases)});
}

Json to_json(const Content& content) {
  if (const auto* error = std::get_if<std::string>(&content)) return *error;
  const auto& summary = std::get<ReportSummary>(content);
  Json scenarios = Json::array();
  for (const ScenarioSummary& scenario : summary.scenarios) scenarios.push_back(to_json(scenario));
  return Json::array({summary.started, summary.commit, summary.dirty, std::move(scenarios)});
}

Json to_json(const Cache& cache, const std::string& writer) {
  Json identities = Json::array();
  for (std::size_t i = 0; i < cache.identities.size(); ++i) {
    identities.push_back(to_json(cache.identities[i]));
  }
  Json contents = Json::array();
  for (const auto& [id, content] : cache.contents) contents.push_back({id, to_json(content)});
  Json files = Json::array();
  for (const auto& [path, file] : cache.files) {
    files.push_back({path, file.bytes, file.modified, file.content});
  }
  return {{"writer", writer},
          {"identities", std::move(identities)},
          {"contents", std::move(contents)},
          {"files", std::move(files)}};
}

// ---------------------------------------------------------------------------------------- reading
// The checksum vouches for the text; anything else that is wrong ends in an exception.

Value value_of(const Json& json) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();  // how it was written
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

CaseIdentity identity_of(const Json& json) {
  CaseIdentity identity{json.at(0), {}, json.at(2), json.at(3)};
  for (const Json& pair : json.at(1)) {
    identity.parameters.emplace_back(pair.at(0).get<std::string>(), value_of(pair.at(1)));
  }
  return identity;
}

CaseFigures figures_of(const Json& json) {
  CaseFigures figures{json.at(0), {}, {}};
  if (json.size() > 1) figures.median = json.at(1).get<double>();
  if (json.size() > 2) figures.interval = Interval{json.at(2), json.at(3), json.at(4)};
  return figures;
}

Content content_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  ReportSummary summary{json.at(0), json.at(1), json.at(2), {}};
  for (const Json& scenario : json.at(3)) {
    ScenarioSummary one{scenario.at(0), scenario.at(1), scenario.at(2), {}};
    for (const Json& figures : scenario.at(3)) one.cases.push_back(figures_of(figures));
    summary.scenarios.push_back(std::move(one));
  }
  return summary;
}

Cache cache_of(const Json& json) {
  Cache cache;
  for (const Json& identity : json.at("identities")) {
    static_cast<void>(cache.identities.number_of(identity_of(identity)));
  }
  for (const Json& pair : json.at("contents")) {
    cache.contents.emplace(pair.at(0).get<std::string>(), content_of(pair.at(1)));
  }
  for (const Json& file : json.at("files")) {
    cache.files.emplace(file.at(0).get<std::string>(),
                        KnownFile{file.at(1), file.at(2), file.at(3)});
  }
  return cache;
}

}  // namespace

Cache read_cache(const std::filesystem::path& path, const std::string& writer) {
  try {
    constexpr ReadLimits limits{.bytes = 2'000'000'000};
    const std::string text = read_text(path, limits);
    const std::string body = text.substr(text.find('\n') + 1);
    if (!text.starts_with(header(body))) return {};
    const Json json = Json::parse(body);
    if (json.at("writer") != writer) return {};
    return cache_of(json);
  } catch (const std::exception&) {
    return {};  // then all reports are read
  }
}

void write_cache(const std::filesystem::path& path, const std::string& writer, const Cache& cache) {
  const std::string body =
      to_json(cache, writer).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  write_file(path, header(body) + body, Durability::unflushed);
}

}  // namespace parbench::report
