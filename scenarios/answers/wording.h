// Sentences of answers: lists of cases, gains, and settings in which something pays.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/recommendation/recommendation.h"

namespace parbench {

/// Joins sentences, the most important first, and omits those that would exceed three lines of 100
/// columns. The first sentence is always included; empty ones are skipped.
[[nodiscard]] std::string joined_sentences(const std::vector<std::string>& sentences);

/// Returns "1.86× as fast as one device (1.84–1.88)"; without a baseline "1.86× as fast
/// (1.84–1.88)".
[[nodiscard]] std::string speed_text(const Ratio& speedup, std::string_view baseline);

/// Returns a clause on what makes the result uncertain: load of other programs, which may also
/// leave no verdict, or too few samples or processes for a gain that may pay: "; more samples are
/// needed to show it with 95% confidence". Otherwise empty.
[[nodiscard]] std::string certainty_text(const Recommendation& recommendation);

/// Returns "Use split 5: 1.27× as fast as one device (1.19–1.37), 91% of its bound." for a
/// recommended case other than the baseline. `details` follow the gain, then `certainty_text`.
/// Without a verdict, returns "No verdict: split 5 measured 1.27× …", also if the baseline is
/// recommended.
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

/// Returns "splitting shows no gain", or "no other strategy pays".
[[nodiscard]] std::string payoff_clause(const Recommendation& recommendation,
                                        const Subject& subject);

/// Returns the sentences about recommendations, the most important first. For one setting: what to
/// use, its ties and what is open; for several: the only one that pays and what the others show, or
/// where the subject pays, with the largest gain. `details` returns a clause to follow the gain of
/// a recommendation; may be null. `whole_device`: a sentence for one setting that compares it with
/// the whole device; may be empty.
[[nodiscard]] std::vector<std::string> verdict_sentences(
    std::span<const Recommendation> recommendations, const Subject& subject,
    std::string_view baseline,
    const std::function<std::string(const Recommendation&)>& details = {},
    const std::string& whole_device = {});

/// Returns " It is tied with split 3 and split 12 (within 3%).". If a simpler case than the fastest
/// is recommended, names the fastest, its ties and the reason. Empty without ties, without a
/// verdict, and if the baseline is recommended.
[[nodiscard]] std::string tie_text(const Recommendation& recommendation);

/// Returns " More samples may show split 20 to be faster.", with the cases that are expected to be
/// slower than a tie but are not ruled out. Empty if there are none, without a verdict, and if load
/// of other programs left them open.
[[nodiscard]] std::string open_text(const Recommendation& recommendation);

/// Returns the recommendation whose gain is most certain; among equally certain ones, the one with
/// the largest gain. Requires at least one recommendation, all with a gain.
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

/// Returns the text with a small first letter, for use within a sentence. The first letter must be
/// ASCII.
[[nodiscard]] std::string with_small_letter(std::string_view text);
[[nodiscard]] std::string with_capital(std::string_view text);

/// Puts the setting of a recommendation, if it has one, in front of a sentence: "At n 8, use odd:
/// …".
[[nodiscard]] std::string at_setting(const Recommendation& recommendation, std::string sentence);

/// Returns the only one of several recommendations that pays; null if none or several pay.
[[nodiscard]] const Recommendation* only_one_that_pays(
    std::span<const Recommendation> recommendations);

/// Returns a sentence, after a blank, about the settings that do not pay, with the advice to use
/// the baseline if it is recommended at all of them: " Streams show no gain at n 1 and do not pay
/// at n 0: use one stream." Empty if all pay.
[[nodiscard]] std::string elsewhere_text(std::span<const Recommendation> recommendations,
                                         const Subject& subject);

/// Returns the largest gain of several recommendations, to follow a sentence about all of them: ";
/// largest recommended gain that is shown: split 5 at batch 24, 1.60× as fast as one device
/// (1.50–1.70)"; without a verdict, the highest measured ratio. If the baseline is recommended
/// everywhere, the advice "; use one device", or a reference to the table if baselines differ.
[[nodiscard]] std::string best_text(std::span<const Recommendation> recommendations,
                                    std::string_view baseline);

/// Returns the verdict with the verb "pays" or "pay": "pays" or "pay", "shows no gain" or "show no
/// gain" ….
[[nodiscard]] std::string_view payoff_text(Payoff payoff, std::string_view verb);

/// Returns "1.20× to 1.45×", or one of the two if they are equal.
[[nodiscard]] std::string range_text(const std::string& low, const std::string& high);

/// Returns why there is no answer: either the baseline or everything else was not measured.
/// `other`: kind of the cases compared with it, "strategy".
[[nodiscard]] std::string no_comparison_text(std::string_view baseline, std::string_view other,
                                             bool has_baseline);

/// Returns " At n 8 there was nothing to compare with."; empty without such settings.
[[nodiscard]] std::string not_compared_text(const std::vector<std::string>& settings);

/// Returns a sentence, after a blank, that a gain larger than the number of devices has a further
/// cause; empty for smaller gains. Devices that work in turn count as 1.
[[nodiscard]] std::string superlinear_text(const Recommendation& recommendation, double devices,
                                           std::string_view likely_cause);

}  // namespace parbench
