// `peaks`: prints the peaks of the scenarios' devices, measured or from the cache.
#include "bench/commands/peaks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/cli/flag_files.h"
#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/estimates/peak_objection.h"
#include "bench/execution/interrupt.h"
#include "bench/output/standard_streams.h"
#include "bench/run/jobs.h"
#include "bench/run/report_builder.h"
#include "bench/sampling/conditions/core_use.h"
#include "bench/sampling/described.h"
#include "kernels/base/cpu_quota.h"
#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "reports/model/machine_info.h"
#include "reports/text/paragraph.h"
#include "reports/text/text.h"
#include "reports/views/peak_table.h"

namespace parbench {
namespace {

class Survey {
 public:
  Survey(const PeakOptions& options, const report::PeakCache& cache, const PeakSizes& sizes,
         const Notify& note, const std::filesystem::path& root)
      : options_(options), root_(root), cache_(cache), sizes_(sizes), note_(note) {}

  /// Adds the peaks of devices, except kinds of devices that were added before.
  void add(std::vector<std::unique_ptr<Device>> devices) {
    Context context(std::move(devices), {.seed = 1});
    for (int device = 0; device < context.device_count() && !result_.interrupted; ++device) {
      const report::Device one = described(context.device(device).info());
      const report::Fingerprint alone = report::fingerprint(machine_, one);
      if (!seen_.insert(report::id_of(alone)).second) continue;
      refused_.clear();
      const std::vector<report::Peak> peaks = peaks_of(context, device, one);
      result_.text += report::to_table(alone, peaks, style_) + refused_ + '\n';
    }
  }

  [[nodiscard]] bool is_interrupted() const { return result_.interrupted; }

  [[nodiscard]] PeakSurvey result() const {
    PeakSurvey result = result_;
    result.text +=
        report::peaks_footnote(style_) + fmt::format("kept in {}\n", cache_.folder().string());
    return result;
  }

 private:
  /// Returns the peaks of a device. Stores each peak once it is measured, so that a later failure
  /// does not discard it. A peak that `objection_to` rejects does not replace the stored one.
  std::vector<report::Peak> peaks_of(Context& context, int device, const report::Device& facts) {
    const report::Fingerprint alone = report::fingerprint(machine_, facts);
    std::vector<report::Peak> known = known_of(alone, "its peaks are measured again");
    std::vector<MeasurablePeak> wanted = wanted_of(context, device);
    std::erase_if(wanted, [&](const MeasurablePeak& one) {
      return !is_asked_anew(one) && report::find_peak(known, one.what) != nullptr;
    });
    if (wanted.empty()) return known;
    naming_flag("the cache of peaks: ", [&] { cache_.check_writable(alone); });
    note_(fmt::format("measuring {} of {}", format_count(wanted.size(), "peak"),
                      report::to_text(alone)));
    std::vector<PeaksOfCores> others = others_of(facts);
    std::size_t kept = 0;
    try {
      for (const MeasurablePeak& one : wanted) {
        std::optional<report::Peak> peak = credible(one, facts, others);
        if (!peak) continue;
        std::erase_if(known, [&](const report::Peak& old) { return old.what == one.what; });
        known.push_back(std::move(*peak));
        cache_.keep(alone, known);
        ++kept;
        drop_contradicted(known.back(), facts, others);
      }
    } catch (const Interrupted&) {
      result_.interrupted = true;
      note_(fmt::format(
          "interrupted: {} of {} measured and stored; the same command measures the rest", kept,
          format_count(wanted.size(), "peak")));
    }
    return known;
  }

  /// Measures a peak up to three times until `objection_to` accepts it. Returns nothing if it never
  /// does.
  std::optional<report::Peak> credible(const MeasurablePeak& one, const report::Device& device,
                                       const std::vector<PeaksOfCores>& others) {
    constexpr int max_attempts = 3;
    std::string objection;
    report::Peak peak;
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
      const std::vector<CoreTime> before = quota_.read();
      const auto use = core_use(device.cores, root_);
      const auto begin = std::chrono::steady_clock::now();
      peak = measured(one);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      const double others_used =
          used_by_others(use, core_use(device.cores, root_), seconds.count()).value_or(0);
      const double taken = others_used / std::max(1.0, static_cast<double>(device.cores.size()));
      const double lost = withheld_share(before, quota_.read()).value_or(0);
      objection = objection_to(peak, device.cores.size(), precision(), others, lost, taken);
      if (objection.empty()) return peak;
    }
    refused_ +=
        report::hanging("! ",
                        fmt::format("not stored: {} {}: {}. Measure it on an idle machine, or "
                                    "allow wider intervals with --precision.",
                                    peak.what, whole_text(report::peak_cell(peak)), objection),
                        style_);
    ++result_.refused;
    return std::nullopt;
  }

  [[nodiscard]] double precision() const { return options_.precision_percent / 100; }

  /// Returns the device with the first `count` of its cores.
  static report::Device with_cores(report::Device device, std::size_t count) {
    device.cores.resize(count);
    return device;
  }

  /// Returns the stored peaks of the same kind of device with other numbers of cores.
  [[nodiscard]] std::vector<PeaksOfCores> others_of(const report::Device& device) const {
    std::vector<PeaksOfCores> others;
    for (std::size_t cores = 1; cores <= machine_.cores_allowed.size(); ++cores) {
      if (device.cores.empty() || cores == device.cores.size()) continue;
      const auto known = known_of(report::fingerprint(machine_, with_cores(device, cores)),
                                  "its peaks of other core counts are not compared");
      if (!known.empty()) others.push_back({cores, known});
    }
    return others;
  }

  /// Drops stored peaks of devices with more cores that a new peak contradicts (`contradicts`).
  void drop_contradicted(const report::Peak& peak, const report::Device& device,
                         std::vector<PeaksOfCores>& others) const {
    for (PeaksOfCores& other : others) {
      const report::Peak* known = report::find_peak(other.peaks, peak.what);
      if (other.cores < device.cores.size() || known == nullptr ||
          !contradicts(peak, *known, precision())) {
        continue;
      }
      note_(fmt::format(
          "{} of {} was {}, less than with {}: removed from the store; measure it again", peak.what,
          format_count(other.cores, "core"), rate_text(*known),
          format_count(device.cores.size(), "core")));
      std::erase_if(other.peaks, [&](const report::Peak& old) { return old.what == peak.what; });
      cache_.keep(report::fingerprint(machine_, with_cores(device, other.cores)), other.peaks);
    }
  }

  /// Returns whether --refresh applies to a peak: to all peaks or, if a number format was given,
  /// only to the peak of products in this format.
  [[nodiscard]] bool is_asked_anew(const MeasurablePeak& one) const {
    if (!options_.refresh || !options_.format) return options_.refresh;
    return one.what == report::gemm_peak(to_string(*options_.format));
  }

  /// Returns the stored peaks of a device; none if their file cannot be read. `otherwise`: the
  /// consequence of an unreadable file, for the message.
  [[nodiscard]] std::vector<report::Peak> known_of(const report::Fingerprint& alone,
                                                   std::string_view otherwise) const {
    try {
      return cache_.find(alone);
    } catch (const UsageError& error) {
      note_(fmt::format("{}; {}", error.what(), otherwise));
      return {};
    }
  }

  [[nodiscard]] std::vector<MeasurablePeak> wanted_of(Context& context, int device) const {
    if (!options_.format) return measurable_peaks(context, device, std::nullopt, sizes_);
    try {
      return measurable_peaks(context, device, options_.format, sizes_);
    } catch (const Unsupported& error) {
      throw UsageError(fmt::format("--dtype {}: {}: {}", to_string(*options_.format),
                                   context.device(device).info().name, error.what()));
    }
  }

  static report::Peak measured(const MeasurablePeak& one) {
    Rate rate = one.measure();
    return {one.what, rate.value, one.unit, rate.interval,
            utc_text(std::chrono::system_clock::now())};
  }

  const PeakOptions& options_;
  const std::filesystem::path& root_;
  CpuQuota quota_{root_};
  const report::PeakCache& cache_;
  const PeakSizes& sizes_;
  const Notify& note_;
  report::TextStyle style_ = text_style(options_.width);
  std::string refused_;  // messages about the current device's peaks that were not stored
  report::Machine machine_ = report::machine_info({});
  std::set<std::string> seen_;
  PeakSurvey result_;
};

/// Ends the process without releasing memory, because streams still use it.
[[noreturn]] void abandon(const TimedOut& error) {
  print_error(error.what());
  std::fflush(nullptr);
  _exit(static_cast<int>(ExitCode::case_failed));
}

void print_beside(const std::string& text) {
  fmt::print(stderr, "parbench: {}\n", report::printable(text));
}

}  // namespace

PeakSurvey survey_peaks(const PeakOptions& options, const ScenarioList& scenarios,
                        const Machine& machine, const report::PeakCache& cache,
                        const PeakSizes& sizes, const Notify& note,
                        const std::filesystem::path& root) {
  Survey survey(options, cache, sizes, note, root);
  const DeviceRequest request{.devices = options.devices,
                              .format = options.format.value_or(NumberFormat{})};
  for (const auto& scenario : scenarios) {
    if (survey.is_interrupted()) break;
    survey.add(open_devices(request, *scenario, machine));
  }
  return survey.result();
}

namespace {

constexpr CommandText peaks_help{
    .name = "peaks",
    .summary =
        "The highest rates that the devices reach, measured once and stored; later runs report "
        "their share of them",
    .examples =
        "  parbench peaks\n"
        "      Measures the rates the first time, and shows them.\n"
        "  parbench peaks --devices cuda:0 --dtype bf16 --refresh\n"
        "      Measures one format on one device again, for example after an upgrade.\n",
    .exit_codes =
        "0 done; 1 a device failed, a rate was not stored, or the output could not be written to "
        "its "
        "end; 2 bad usage; 130 interrupted; 143 ended by SIGTERM; what was measured is stored."};

class Peaks final : public Command {
 public:
  explicit Peaks(const Program& program) : Command(peaks_help), scenarios_(program.scenarios) {}

  std::vector<FlagRow> flags() override {
    return {
        text_flag("devices", "As --devices of a run; default: those that scenarios use by default",
                  "N|NAME,NAME…", &options_.devices),
        choice_flag("dtype", "Only this element type; default: all that the device supports",
                    number_format_names(), "f32|tf32|bf16", &options_.format),
        toggle_flag("refresh", "Measure again, also what is stored", &options_.refresh),
        number_flag("precision",
                    "Store a rate only if its 95% confidence interval is at most ± "
                    "this wide, and no smaller number of cores is faster by more; "
                    "default: 10",
                    AxisKind::real, 0.01, 1000, "PERCENT", &options_.precision_percent),
        width_flag(options_.width)};
  }

  ExitCode run() override {
    const auto cache = report::PeakCache::of_environment();
    if (!cache) {
      throw UsageError(
          "no folder for peaks: PARBENCH_CACHE, XDG_CACHE_HOME and HOME are not set; set "
          "PARBENCH_CACHE to a folder");
    }
    const InterruptHandler interrupt;
    PeakSizes sizes;
    sizes.on_timeout = abandon;
    sizes.interrupted = InterruptHandler::requested;
    const PeakSurvey survey =
        survey_peaks(options_, scenarios_, Machine(), *cache, sizes, print_beside);
    print(survey.text);
    if (survey.interrupted) return ExitCode{InterruptHandler::exit_code()};
    if (survey.refused == 0) return ExitCode::measured;
    print_beside(fmt::format(
        "{} not stored; see the table for the reason",
        survey.refused == 1 ? "1 rate was" : fmt::format("{} rates were", survey.refused)));
    return ExitCode::case_failed;
  }

 private:
  const ScenarioList& scenarios_;
  PeakOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_peaks(const Program& program) {
  return std::make_unique<Peaks>(program);
}

}  // namespace parbench
