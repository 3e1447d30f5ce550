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

/// "1.86× as fast as one device (1.84–1.88)"; without a baseline "1.86× as fast (1.84–1.88)".
[[nodiscard]] std::string speed_text(const Ratio& speedup, std::string_view baseline);

/// "; more samples are needed to show it with 95% confidence", or as many processes: why the gain
/// of the recommended case is expected and not shown, or why there is no verdict. Empty of one that
/// pays, and where the baseline is recommended.
[[nodiscard]] std::string certainty_text(const Recommendation& recommendation);

/// "Use split 5: 1.27× as fast as one device (1.19–1.37), 91% of its bound.", with what limits it;
/// where another case than the baseline is recommended. `details` follow the gain. Without a
/// verdict "No verdict: split 5 measured 1.27× …" with the reason, whatever is recommended.
[[nodiscard]] std::string use_text(const Recommendation& recommendation, std::string_view baseline,
                                   std::string_view details = {});

/// "Use one device: splitting shows no gain; split 5, tied with it: 1.02× as fast (0.98–1.06).",
/// where the baseline is recommended. `clause` is "splitting shows no gain".
[[nodiscard]] std::string keep_text(const Recommendation& recommendation, std::string_view clause,
                                    std::string_view details = {});

/// What sentences are about. Without a text it is "another strategy".
struct Subject {
  std::string text = {};              // "Streams on one device"
  std::string_view verb = "pays";     // or "pay"
  std::string_view noun = "setting";  // what recommendations are for
};

/// "splitting shows no gain", "no other strategy pays".
[[nodiscard]] std::string payoff_clause(const Recommendation& recommendation,
                                        const Subject& subject);

/// Returns the sentences about recommendations, the most important first. For one setting: what to
/// use, its ties and what is open; for several: the only one that pays and what the others show,
/// or where it pays with the largest gain. `details` returns what follows the gain of a
/// recommendation; may be null.
[[nodiscard]] std::vector<std::string> verdict_sentences(
    std::span<const Recommendation> recommendations, const Subject& subject,
    std::string_view baseline,
    const std::function<std::string(const Recommendation&)>& details = {});

/// " It is tied with split 3 and split 12 (within 3%).", or the fastest, its ties and why a simpler
/// case than it is recommended. Empty without ties or a verdict, and where the baseline is
/// recommended.
[[nodiscard]] std::string tie_text(const Recommendation& recommendation);

/// " More samples may show split 20 to be faster.": cases that are expected to be slower by more
/// than a tie and not ruled out. Empty without any, and without a verdict.
[[nodiscard]] std::string open_text(const Recommendation& recommendation);

/// Returns the recommendation whose gain is shown best, and among equals the one with the largest
/// gain. There is at least one, and all have a gain.
[[nodiscard]] const Recommendation& best_of(std::span<const Recommendation> recommendations);

/// Says at which settings something pays, each with exactly one verdict: "pay at every setting that
/// was compared", "pay at n 8, may pay at n 16 and do not pay at 3 settings", "show no gain at any
/// setting that was compared"; of a single setting the verdict alone. `verb` is "pays" or "pay".
/// There is at least one.
[[nodiscard]] std::string where_it_pays(std::span<const Recommendation> recommendations,
                                        std::string_view verb, std::string_view noun = "setting");

/// "no verdict at either setting", "no verdict at any of 15 settings"; empty where one of several
/// has a verdict, and of a single one.
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

/// Names the setting of a recommendation, where it has one, ahead of a sentence about it: "At n 8,
/// use odd: …".
[[nodiscard]] std::string at_setting(const Recommendation& recommendation, std::string sentence);

/// Returns the one that pays where several were compared; null where none or several pay.
[[nodiscard]] const Recommendation* only_one_that_pays(
    std::span<const Recommendation> recommendations);

/// Says what those show that do not pay, as a sentence with a blank before it, and what to use
/// where that is the baseline at all of them: " Streams show no gain at n 1 and do not pay at n 0:
/// use one stream." Empty where all pay.
[[nodiscard]] std::string elsewhere_text(std::span<const Recommendation> recommendations,
                                         const Subject& subject);

/// The largest gain of several recommendations, behind a sentence about all of them: "; largest
/// recommended gain that is shown: split 5 at batch 24, 1.60× as fast as one device (1.50–1.70)";
/// without one what to use:
/// "; use one device".
[[nodiscard]] std::string best_text(std::span<const Recommendation> recommendations,
                                    std::string_view baseline);

/// "pays" or "pay", "shows no gain" or "show no gain" …: as `verb` is "pays" or "pay".
[[nodiscard]] std::string_view payoff_text(Payoff payoff, std::string_view verb);

/// "1.20× to 1.45×", or one of the two if they are equal.
[[nodiscard]] std::string range_text(const std::string& low, const std::string& high);

/// Returns why there is no answer: either the baseline or everything else was not measured.
/// `other`: kind of the cases compared with it, "strategy".
[[nodiscard]] std::string no_comparison_text(std::string_view baseline, std::string_view other,
                                             bool has_baseline);

/// Returns " At n 8 there was nothing to compare with."; empty without such settings.
[[nodiscard]] std::string not_compared_text(const std::vector<std::string>& settings);

/// Says of a gain that is larger than the number of devices that another cause adds to it: the
/// whole sentence, with a blank before it; empty of any other gain. Devices that work in turn count
/// as 1.
[[nodiscard]] std::string superlinear_text(const Recommendation& recommendation, double devices,
                                           std::string_view likely_cause);

}  // namespace parbench
