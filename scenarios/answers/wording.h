// Sentences of answers: lists of cases, gains, and settings in which something pays.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/recommendation/recommendation.h"

namespace parbench {

/// Joins sentences, the most important first, and omits each sentence with which the text would
/// exceed three lines of 100 columns. The first sentence is always included; empty ones are
/// skipped.
[[nodiscard]] std::string joined_sentences(const std::vector<std::string>& sentences);

/// Returns "1.86× as fast as one device (1.84–1.88)"; without a baseline "1.86× as fast
/// (1.84–1.88)".
[[nodiscard]] std::string speed_text(const Ratio& speedup, std::string_view baseline);

/// Returns a clause on why a result is uncertain, and the remedy. If load of other programs can
/// change which case is the fastest, the clause states the load, with or without a verdict.
/// Otherwise, if the gain may pay, it asks for samples or processes: "; more samples are needed to
/// show it with 95% confidence". Empty in all other cases.
[[nodiscard]] std::string certainty_text(const Recommendation& recommendation);

/// Returns "Use split 5: 1.27× as fast as one device (1.19–1.37), 91% of its bound." for a
/// recommended case other than the baseline. `details` follow the gain, then `certainty_text`.
/// Without a verdict, also for a recommended baseline, returns "No verdict: split 5 measured 1.27×
/// …", or that no case was faster than the baseline.
[[nodiscard]] std::string use_text(const Recommendation& recommendation, std::string_view baseline,
                                   std::string_view details = {});

/// Returns "Use one device: splitting shows no gain; split 5, tied with it: 1.02× as fast
/// (0.98–1.06).", for a recommended baseline. `clause`: "splitting shows no gain".
[[nodiscard]] std::string keep_text(const Recommendation& recommendation, std::string_view clause,
                                    std::string_view details = {});

/// Subject of an answer's sentences. Without a text it is "another strategy".
struct Subject {
  std::string text = {};              // "Streams on one device"
  std::string_view verb = "pays";     // "pays" or "pay"
  std::string_view noun = "setting";  // word for the scope of a recommendation
};

/// Returns a clause with the verdict: "splitting shows no gain"; "no other strategy pays" for a
/// subject without a text.
[[nodiscard]] std::string payoff_clause(const Recommendation& recommendation,
                                        const Subject& subject);

/// Returns the sentences about recommendations, the most important first.
/// - One setting: the recommended case, its ties, and the cases that are not ruled out.
/// - Several settings, and one recommendation pays: this recommendation, and the verdicts on the
///   other settings.
/// - Otherwise: where the subject pays, and the largest gain.
/// `details` returns a clause to follow the gain of a recommendation; may be null. `whole_device`:
/// a sentence that compares the case of a single setting with the whole device; may be empty.
[[nodiscard]] std::vector<std::string> verdict_sentences(
    std::span<const Recommendation> recommendations, const Subject& subject,
    std::string_view baseline,
    const std::function<std::string(const Recommendation&)>& details = {},
    const std::string& whole_device = {});

/// Returns " It is tied with split 3 and split 12 (within 3%).". If the recommended case is not the
/// fastest, the sentence instead names the fastest case and the cases tied with it, and states that
/// the recommended case is simpler. Empty without ties, without a verdict, and if the baseline is
/// recommended.
[[nodiscard]] std::string tie_text(const Recommendation& recommendation);

/// Returns " More samples may show split 20 to be faster.", with the candidates that are not tied
/// with the fastest. Empty if there are none, without a verdict, and if load of other programs may
/// be the reason why they are not ruled out.
[[nodiscard]] std::string open_text(const Recommendation& recommendation);

/// Returns the recommendation with the best verdict: one that pays before one that may pay, then
/// one without a verdict, then the other verdicts from `gains_little` down. Of several with the
/// same verdict, returns the one with the largest gain. Requires at least one recommendation, all
/// with a gain.
[[nodiscard]] const Recommendation& best_of(std::span<const Recommendation> recommendations);

/// Lists the settings in which something pays, with one verdict for each: "pay at every setting
/// that was compared", "pay at n 8, may pay at n 16 and do not pay at 3 settings", "show no gain at
/// any setting that was compared"; for a single setting only the verdict. `verb`: "pays" or "pay".
/// Requires at least one recommendation.
[[nodiscard]] std::string where_it_pays(std::span<const Recommendation> recommendations,
                                        std::string_view verb, std::string_view noun = "setting");

/// Returns "no verdict at either setting" or "no verdict at any of 15 settings"; empty if one of
/// several settings has a verdict, and for a single setting.
[[nodiscard]] std::string no_verdict_text(std::span<const Recommendation> recommendations,
                                          std::string_view noun = "setting");

/// Returns the subject followed by the result of `where_it_pays` or `no_verdict_text`: "Streams: no
/// verdict at either setting".
[[nodiscard]] std::string verdict_text(std::span<const Recommendation> recommendations,
                                       const Subject& subject);

/// Returns the text with its first letter in lower case, for use within a sentence. The first
/// letter must be ASCII.
[[nodiscard]] std::string with_small_letter(std::string_view text);
[[nodiscard]] std::string with_capital(std::string_view text);

/// Puts the setting of a recommendation, if it has one, in front of a sentence: "At n 8, use odd:
/// …".
[[nodiscard]] std::string at_setting(const Recommendation& recommendation, std::string sentence);

/// Returns the recommendation that pays if exactly one of several does; otherwise null, also if
/// there is only one recommendation.
[[nodiscard]] const Recommendation* only_one_that_pays(
    std::span<const Recommendation> recommendations);

/// Returns a sentence, after a blank, about the settings at which the subject does not pay: "
/// Streams show no gain at n 1 and do not pay at n 0: use one stream." The advice is only given if
/// the baseline is recommended at all of these settings. Empty if all recommendations pay.
[[nodiscard]] std::string elsewhere_text(std::span<const Recommendation> recommendations,
                                         const Subject& subject);

/// Returns a clause to follow a sentence about several recommendations, by the verdict on the best
/// one (`best_of`).
/// - The best one pays or may pay: its gain, "; largest recommended gain that is shown: split 5 at
///   batch 24, 1.60× as fast as one device (1.50–1.70)".
/// - No verdict: the highest measured ratio.
/// - Otherwise: "; use one device", or a reference to the table if baselines differ.
[[nodiscard]] std::string best_text(std::span<const Recommendation> recommendations,
                                    std::string_view baseline);

/// Returns the verdict with the verb "pays" or "pay": "pays" or "pay", "shows no gain" or "show no
/// gain" ….
[[nodiscard]] std::string_view payoff_text(Payoff payoff, std::string_view verb);

/// Returns "1.20× to 1.45×", or one of the two if they are equal.
[[nodiscard]] std::string range_text(const std::string& low, const std::string& high);

/// Returns why there is no answer: the baseline was not measured, or, if `has_baseline`, nothing
/// else was. `other`: kind of the cases to compare with the baseline, "strategy".
[[nodiscard]] std::string no_comparison_text(std::string_view baseline, std::string_view other,
                                             bool has_baseline);

/// Returns " At n 8 there was nothing to compare with."; empty without such settings.
[[nodiscard]] std::string not_compared_text(const std::vector<std::string>& settings);

/// Returns a sentence, after a blank, that a gain exceeds the number of devices, with its likely
/// cause. Empty unless the recommended case pays and the whole interval of its gain exceeds
/// `devices`. Devices that work one after the other count as 1.
[[nodiscard]] std::string superlinear_text(const Recommendation& recommendation, double devices,
                                           std::string_view likely_cause);

}  // namespace parbench
