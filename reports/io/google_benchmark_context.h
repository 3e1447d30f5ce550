// Reads the context of a Google Benchmark file, and provides access to objects of such files.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/base/error.h"
#include "reports/io/json_value.h"
#include "reports/model/report.h"

namespace parbench::report {

/// A JSON object in a file of Google Benchmark. `path`: its place in the file, for messages, such
/// as "context.caches".
class Fields {
 public:
  /// The remedy for content that Google Benchmark does not write.
  static constexpr std::string_view remedy = "take the file as the program has written it";

  Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) {
      throw UsageError(
          fmt::format("{}: expected an object, found {}; {}", path_, object.type_name(), remedy));
    }
  }

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }

  /// Returns the text of a member; empty if it is missing or has another type.
  [[nodiscard]] std::string text(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  /// Returns the number of a member; nothing if it is missing, NaN if it has another type, such as
  /// null, which replaces non-finite numbers.
  [[nodiscard]] std::optional<double> number(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return std::nullopt;
    return found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
  }

  /// Returns the number of a member as T, without its fraction; `fallback` if it is missing, not a
  /// number, negative or too large.
  template <class T>
  [[nodiscard]] T count(const char* key, T fallback) const {
    const double value = number(key).value_or(-1);
    // The first number beyond T is a power of two, which a double represents exactly.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return value >= 0 && value < end ? static_cast<T>(value) : fallback;
  }

  [[nodiscard]] bool is_true(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && *found == true;
  }

  [[noreturn]] void refuse(const char* key, const std::string& what) const {
    throw UsageError(fmt::format("{}.{}: {}", path_, key, what));
  }

  [[nodiscard]] const Json& json() const { return object_; }

 private:
  const Json& object_;
  std::string path_;
};

/// Returns "string_bench" for "./build/string_bench"; "benchmarks" if unknown.
[[nodiscard]] std::string program_name(const std::string& executable);

/// Returns a report without cases. Values that the context lacks are unknown; an unusable date adds
/// a note.
[[nodiscard]] Report report_without_cases(const Fields& context);

}  // namespace parbench::report
