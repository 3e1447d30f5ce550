// Sentences about recommendations, shared by scenarios.
#include "scenarios/answers/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <tuple>
#include <utility>

#include "kernels/base/units/units.h"

namespace parbench {
namespace {

using Recommendations = std::span<const Recommendation>;

/// Returns the verdict for a plural subject: "pay", "show no gain".
std::string_view plural_text(Payoff payoff) {
  switch (payoff) {
    case Payoff::pays:
      return "pay";
    case Payoff::undecided:
      return "have no verdict";
    case Payoff::may_pay:
      return "may pay";
    case Payoff::gains_little:
      return "gain less than 3%";
    case Payoff::shows_no_gain:
      return "show no gain";
    case Payoff::does_not_pay:
      break;
  }
  return "do not pay";
}

/// Returns "more samples are needed". If several processes measured, each counts as one sample, and
/// the text asks for processes.
std::string needed_text(const Recommendation& recommendation) {
  if (recommendation.processes == 0) return "more samples are needed";
  const auto processes = static_cast<std::size_t>(recommendation.processes);
  if (processes >= needed_values) return "more processes are needed";
  return fmt::format("{} processes are needed (--processes {})", needed_values, needed_values);
}

/// Returns "; it was measured in a single round"; empty if the gain has an interval.
std::string single_text(const Recommendation& recommendation) {
  if (recommendation.gain->interval) return {};
  return fmt::format("; it was measured in a single {}",
                     recommendation.processes > 0 ? "process" : "round");
}

/// Returns "41%" or "0.4%".
std::string share_text(double share) {
  constexpr double min_whole = 0.01;
  return format_percent(share, share < min_whole ? 1 : 0);
}

std::vector<std::string> settings_with(Recommendations recommendations, Payoff payoff) {
  std::vector<std::string> settings;
  for (const Recommendation& one : recommendations) {
    if (payoff_of(one) == payoff) settings.push_back(one.setting);
  }
  return settings;
}

/// Returns the label of the baseline if baselines of the same label are recommended at all of these
/// settings; otherwise empty.
std::string only_baseline_of(Recommendations recommendations) {
  const std::string& first = recommendations.front().candidates.front().label;
  const bool is_one = std::ranges::all_of(recommendations, [&](const Recommendation& one) {
    return payoff_of(one) < Payoff::may_pay && one.candidates.front().label == first;
  });
  return is_one ? first : std::string();
}

/// Returns the name of a single setting, "n 8"; otherwise the number of settings, "3 settings".
std::string places_text(const std::vector<std::string>& settings, std::string_view noun) {
  const bool has_name = settings.size() == 1 && !settings.front().empty();
  return has_name ? settings.front() : format_count(settings.size(), noun);
}

/// Returns " (other programs had up to 41% of the core time)".
std::string largest_load_text(Recommendations recommendations) {
  return fmt::format(" (other programs had up to {} of the core time)",
                     share_text(std::ranges::max(recommendations, {}, &Recommendation::load).load));
}

std::string_view name_of(const Subject& subject) {
  return subject.text.empty() ? "Another strategy" : std::string_view(subject.text);
}

/// Width of an answer's lines, without "→ ".
constexpr std::size_t answer_width = 98;
constexpr std::size_t answer_lines = 3;

/// Returns the number of characters of a UTF-8 text, which must not contain combining marks.
std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) {
    constexpr unsigned continuation = 0x80;
    constexpr unsigned leading_bits = 0xC0;
    return (static_cast<unsigned char>(byte) & leading_bits) != continuation;
  }));
}

/// Returns the number of lines of a text that is wrapped at blanks.
std::size_t line_count(std::string_view text) {
  std::size_t lines = 1;
  std::size_t used = 0;
  for (const auto part : std::views::split(text, ' ')) {
    const std::size_t word = character_count(std::string_view(part.begin(), part.end()));
    const std::size_t with_blank = word + (used == 0 ? 0 : 1);
    if (used > 0 && used + with_blank > answer_width) {
      ++lines;
      used = word;
    } else {
      used += with_blank;
    }
  }
  return lines;
}

}  // namespace

std::string joined_sentences(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    const std::string_view words = std::string_view(sentence).substr(
        std::min(sentence.find_first_not_of(' '), sentence.size()));
    if (words.empty()) continue;
    const std::string longer =
        text.empty() ? std::string(words) : fmt::format("{} {}", text, words);
    if (text.empty() || line_count(longer) <= answer_lines) text = longer;
  }
  return text;
}

std::string speed_text(const Ratio& speedup, std::string_view baseline) {
  std::string text = format_ratio(speedup);
  const std::string words = baseline.empty() ? " as fast" : fmt::format(" as fast as {}", baseline);
  text.insert(std::min(text.find(' '), text.size()), words);
  return text;
}

std::string certainty_text(const Recommendation& recommendation) {
  const Payoff payoff = payoff_of(recommendation);
  if (const double load = std::max(recommendation.load, recommendation.hiding_load); load > 0) {
    return fmt::format(
        "{}; other programs had {} of the core time (more in some rounds), which can change which "
        "case is the fastest: repeat on a quiet machine",
        single_text(recommendation), share_text(load));
  }
  if (payoff != Payoff::may_pay) return {};
  const Ratio& gain = *recommendation.gain;
  const std::string needed = needed_text(recommendation);
  if (!gain.interval) return fmt::format("{}: {}", single_text(recommendation), needed);
  if (gain.above(1)) return fmt::format("; {} to show it with 95% confidence", needed);
  return fmt::format("; the interval includes 1: {} to show a gain", needed);
}

std::string use_text(const Recommendation& recommendation, std::string_view baseline,
                     std::string_view details) {
  if (payoff_of(recommendation) == Payoff::undecided) {
    if (recommendation.gain->value < 1) {
      return fmt::format("No verdict: no case was faster than {}; next fastest: {}, {}{}.",
                         baseline, recommendation.gaining->label,
                         speed_text(*recommendation.gain, ""), certainty_text(recommendation));
    }
    return fmt::format("No verdict: {} measured {}{}{}.", recommendation.gaining->label,
                       speed_text(*recommendation.gain, baseline), details,
                       certainty_text(recommendation));
  }
  return fmt::format("Use {}: {}{}{}.", recommendation.candidates.front().label,
                     speed_text(*recommendation.gain, baseline), details,
                     certainty_text(recommendation));
}

std::string keep_text(const Recommendation& recommendation, std::string_view clause,
                      std::string_view details) {
  const std::string& shown = recommendation.gaining->label;
  const bool is_tied =
      std::ranges::find(recommendation.tied, *recommendation.gaining) != recommendation.tied.end();
  return fmt::format("Use {}: {}; {}{}: {}{}{}.", recommendation.candidates.front().label, clause,
                     shown, is_tied ? ", tied with it" : "", speed_text(*recommendation.gain, ""),
                     details, single_text(recommendation));
}

std::string payoff_clause(const Recommendation& recommendation, const Subject& subject) {
  const Payoff payoff = payoff_of(recommendation);
  if (!subject.text.empty()) {
    return fmt::format("{} {}", with_small_letter(subject.text), payoff_text(payoff, subject.verb));
  }
  if (payoff == Payoff::does_not_pay) return "no other strategy pays";
  return payoff == Payoff::gains_little ? "no other strategy gains 3% or more"
                                        : "no other strategy shows a gain";
}

std::vector<std::string> verdict_sentences(
    Recommendations recommendations, const Subject& subject, std::string_view baseline,
    const std::function<std::string(const Recommendation&)>& details,
    const std::string& whole_device) {
  const auto used = [&](const Recommendation& one) {
    return at_setting(one, use_text(one, baseline, details ? details(one) : ""));
  };
  if (recommendations.size() == 1) {
    const Recommendation& one = recommendations.front();
    if (payoff_of(one) >= Payoff::may_pay)
      return {used(one), tie_text(one), whole_device, open_text(one)};
    return {
        at_setting(one, keep_text(one, payoff_clause(one, subject), details ? details(one) : "")),
        whole_device};
  }
  if (const Recommendation* only = only_one_that_pays(recommendations)) {
    return {used(*only), elsewhere_text(recommendations, subject)};
  }
  return {fmt::format("{}{}.", verdict_text(recommendations, subject),
                      best_text(recommendations, baseline))};
}

std::string tie_text(const Recommendation& recommendation) {
  std::vector<std::string> tied;
  for (const LabelledCase& one : recommendation.tied) tied.push_back(one.label);
  const bool is_kept = !recommendation.gaining ||
                       recommendation.gaining->name != recommendation.candidates.front().name;
  const bool is_undecided = payoff_of(recommendation) == Payoff::undecided;
  if (tied.empty() || is_kept || is_undecided) return {};
  const std::string& used = recommendation.candidates.front().label;
  if (!recommendation.fastest_gain) {
    return fmt::format(" It is tied with {} (within 3%).", format_list(tied));
  }
  const std::string fastest = std::exchange(tied.front(), used);
  return fmt::format(" The fastest is {} ({}), tied within 3% with {}; {} is simpler.", fastest,
                     format_ratio(recommendation.fastest_gain->value), format_list(tied), used);
}

std::string open_text(const Recommendation& recommendation) {
  // If other programs had the cores, more samples under the same load would not rule a case out.
  const bool is_hidden = recommendation.hiding_load > 0;
  if (is_hidden || payoff_of(recommendation) == Payoff::undecided) return {};
  std::vector<std::string> open;
  for (const LabelledCase& one : recommendation.candidates) {
    const bool is_known = one == recommendation.candidates.front() ||
                          std::ranges::find(recommendation.tied, one) != recommendation.tied.end();
    if (!is_known) open.push_back(one.label);
  }
  if (open.empty()) return {};
  return fmt::format(" More {} may show {} to be faster.",
                     recommendation.processes > 0 ? "processes" : "samples", format_list(open));
}

const Recommendation& best_of(Recommendations recommendations) {
  using enum Payoff;
  return *std::ranges::max_element(recommendations, {}, [](const Recommendation& one) {
    const Payoff payoff = payoff_of(one);
    // Ranks `undecided` between `gains_little` and `may_pay`.
    const bool is_shown = payoff != undecided;
    return std::tuple(is_shown ? payoff : gains_little, !is_shown, one.gain->value);
  });
}

std::string where_it_pays(Recommendations recommendations, std::string_view verb,
                          std::string_view noun) {
  using enum Payoff;
  std::vector<std::string> parts;
  for (const Payoff payoff :
       {pays, may_pay, gains_little, shows_no_gain, does_not_pay, undecided}) {
    const auto settings = settings_with(recommendations, payoff);
    if (settings.empty()) continue;
    const std::string_view words = payoff_text(payoff, verb);
    if (recommendations.size() == 1) return std::string(words);
    if (settings.size() == recommendations.size()) {
      return fmt::format("{} at {} {} that was compared", words,
                         payoff >= gains_little ? "every" : "any", noun);
    }
    parts.push_back(fmt::format("{} at {}{}", words, places_text(settings, noun),
                                payoff == undecided ? largest_load_text(recommendations) : ""));
  }
  return format_list(parts);
}

std::string no_verdict_text(Recommendations recommendations, std::string_view noun) {
  const bool has_verdict = std::ranges::any_of(
      recommendations, [](const auto& one) { return payoff_of(one) != Payoff::undecided; });
  if (has_verdict || recommendations.size() < 2) return {};
  return recommendations.size() == 2
             ? fmt::format("no verdict at either {}", noun)
             : fmt::format("no verdict at any of {}", format_count(recommendations.size(), noun));
}

std::string verdict_text(Recommendations recommendations, const Subject& subject) {
  const std::string_view name = name_of(subject);
  const std::string none = no_verdict_text(recommendations, subject.noun);
  return none.empty() ? fmt::format("{} {}", name,
                                    where_it_pays(recommendations, subject.verb, subject.noun))
                      : fmt::format("{}: {}{}", name.substr(0, name.find_last_not_of(',') + 1),
                                    none, largest_load_text(recommendations));
}

std::string with_small_letter(std::string_view text) {
  std::string made(text);
  if (!made.empty())
    made.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(made.front())));
  return made;
}

std::string with_capital(std::string_view text) {
  std::string made(text);
  if (!made.empty())
    made.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(made.front())));
  return made;
}

std::string at_setting(const Recommendation& recommendation, std::string sentence) {
  if (recommendation.setting.empty() || sentence.empty()) return sentence;
  return fmt::format("At {}, {}", recommendation.setting, with_small_letter(sentence));
}

const Recommendation* only_one_that_pays(Recommendations recommendations) {
  const auto pays = [](const Recommendation& one) { return one.pays; };
  if (recommendations.size() < 2 || std::ranges::count_if(recommendations, pays) != 1) {
    return nullptr;
  }
  return &*std::ranges::find_if(recommendations, pays);
}

std::string elsewhere_text(Recommendations recommendations, const Subject& subject) {
  std::vector<Recommendation> others;
  std::ranges::copy_if(recommendations, std::back_inserter(others),
                       [](const Recommendation& one) { return !one.pays; });
  if (others.empty()) return {};
  const std::string where =
      others.size() == 1
          ? fmt::format("{} at {}", payoff_text(payoff_of(others.front()), subject.verb),
                        others.front().setting)
          : where_it_pays(others, subject.verb, fmt::format("other {}", subject.noun));
  const std::string used = only_baseline_of(others);
  return fmt::format(" {} {}{}.", name_of(subject), where, used.empty() ? "" : ": use " + used);
}

/// Fastest case other than the baseline at the setting of a recommendation, and its gain.
struct Highest {
  std::string_view label;
  Ratio gain;
};

Highest highest_of(const Recommendation& one) {
  if (one.fastest_gain) return {one.tied.front().label, *one.fastest_gain};
  return {one.gaining->label, *one.gain};
}

/// Returns "; highest measured: x at n 8, 1.37× as fast as one stream (1.20–1.50); other programs
/// had …", for several settings of which none pays or may pay, and some have no verdict. The ratio
/// may be below 1.
std::string highest_text(Recommendations recommendations, std::string_view baseline) {
  const auto& one = std::ranges::max(recommendations, {},
                                     [](const auto& each) { return highest_of(each).gain.value; });
  return fmt::format("; highest measured: {}{}{}{}", highest_of(one).label,
                     one.setting.empty() ? ", " : fmt::format(" at {}, ", one.setting),
                     speed_text(highest_of(one).gain, baseline),
                     certainty_text(best_of(recommendations)));
}

std::string best_text(Recommendations recommendations, std::string_view baseline) {
  const Recommendation& best = best_of(recommendations);
  const Payoff payoff = payoff_of(best);
  if (payoff < Payoff::may_pay) {
    const std::string used = only_baseline_of(recommendations);
    return used.empty() ? "; see the table for the cases to use" : "; use " + used;
  }
  if (payoff == Payoff::undecided) return highest_text(recommendations, baseline);
  const std::string_view what = payoff == Payoff::pays ? "largest recommended gain that is shown"
                                                       : "largest recommended gain";
  return fmt::format("; {}: {}{}{}{}", what, best.gaining->label,
                     best.setting.empty() ? ", " : fmt::format(" at {}, ", best.setting),
                     speed_text(*best.gain, baseline), certainty_text(best));
}

std::string_view payoff_text(Payoff payoff, std::string_view verb) {
  return verb.ends_with('s') ? to_string(payoff) : plural_text(payoff);
}

std::string range_text(const std::string& low, const std::string& high) {
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string no_comparison_text(std::string_view baseline, std::string_view other,
                               bool has_baseline) {
  return has_baseline ? fmt::format("Not decided: no {} was measured beside {}.", other, baseline)
                      : fmt::format("Not decided: {}, the baseline, was not measured.", baseline);
}

std::string not_compared_text(const std::vector<std::string>& settings) {
  if (settings.empty()) return {};
  return fmt::format(" At {} there was nothing to compare with.", format_list(settings));
}

std::string superlinear_text(const Recommendation& recommendation, double devices,
                             std::string_view likely_cause) {
  if (!recommendation.pays || !recommendation.gain->above(devices)) return {};
  const std::string limit =
      devices == 1 ? "devices that work in turn" : fmt::format("{:.0f} devices", devices);
  return fmt::format(" This is more than {} can give; likely cause: {}.", limit, likely_cause);
}

}  // namespace parbench
