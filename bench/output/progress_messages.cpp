// The format: one JSON object per line; fields without a known value are omitted.
#include "bench/output/progress_messages.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace parbench {
namespace {

using Json = nlohmann::json;

void put(Json& message, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) message[key] = *value;
}

std::optional<double> number(const Json& message, const char* key) {
  const auto found = message.find(key);
  return found == message.end() ? std::nullopt : std::optional(found->get<double>());
}

class Messages : public Progress {
 public:
  Messages(std::ostream& out, std::function<double()> now) : out_(out), now_(std::move(now)) {}

  void update(const ProgressState& state) override {
    const double time = now_();
    if (time - latest_ < state_seconds) return;
    latest_ = time;
    Json message{{"phase", state.phase},           {"case", state.case_name},
                 {"cases_done", state.cases_done}, {"cases", state.cases},
                 {"samples", state.samples},       {"part", state.part.index},
                 {"parts", state.part.count},      {"left_is_limit", state.left_is_limit}};
    put(message, "precision", state.reached_precision);
    put(message, "fraction", state.fraction);
    put(message, "seconds_left", state.seconds_left);
    write(message);
  }
  void note(const std::string& line) override { write({{"note", line}}); }
  void finish() override {}

 private:
  void write(const Json& message) {
    out_ << message.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
  }

  static constexpr double state_seconds = 0.1;

  std::ostream& out_;
  std::function<double()> now_;
  double latest_ = -std::numeric_limits<double>::infinity();
};

ProgressState state_of(const Json& message) {
  ProgressState state;
  state.phase = message.at("phase");
  state.case_name = message.at("case");
  state.cases_done = message.at("cases_done");
  state.cases = message.at("cases");
  state.samples = message.at("samples");
  state.part = {message.at("part"), message.at("parts")};
  state.reached_precision = number(message, "precision");
  state.fraction = number(message, "fraction");
  state.seconds_left = number(message, "seconds_left");
  state.left_is_limit = message.at("left_is_limit");
  return state;
}

}  // namespace

std::unique_ptr<Progress> make_progress_messages(std::ostream& out, std::function<double()> now) {
  return std::make_unique<Messages>(out, std::move(now));
}

void relay_progress(std::string_view line, RunPart process, Progress& progress) {
  const auto note = [&](std::string_view text) {
    progress.note(fmt::format("process {} of {}: {}", process.index + 1, process.count, text));
  };
  try {
    const Json message = Json::parse(line);
    if (message.contains("note")) return note(message["note"].get_ref<const std::string&>());
    ProgressState state = state_of(message);
    state.process = process;
    // The progress over all processes; unknown progress of the current one counts as 0.
    state.fraction = (static_cast<double>(process.index) + state.fraction.value_or(0)) /
                     static_cast<double>(process.count);
    progress.update(state);
  } catch (const Json::exception&) {
    note(line);
  }
}

}  // namespace parbench
