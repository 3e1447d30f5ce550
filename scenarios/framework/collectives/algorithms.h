// The algorithms of collectives: messages between members, in rounds. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/core/communicator.h"
#include "scenarios/framework/collectives/messages.h"

namespace parbench {

/// Algorithms of collectives:
/// - direct: every member gets each block or array from the member that has it. An all-reduce is a
///   reduce-scatter followed by an all-gather.
/// - ring: member m sends only to member m + 1, for a reduce to member m − 1; for an all-to-all, in
///   round s to member m + s.
/// - tree: binomial trees, ⌈log₂ p⌉ rounds for p members, twice as many for an all-reduce. Blocks
///   that are gathered or scattered have a tree each (dissemination, Bruck et al. 1997).
enum class Algorithm { direct, ring, tree };
inline constexpr std::array<Algorithm, 3> all_algorithms{Algorithm::direct, Algorithm::ring,
                                                         Algorithm::tree};
[[nodiscard]] std::string_view name_of(Algorithm algorithm);  // "direct", "ring", "tree"

/// Returns whether there is such an algorithm for that collective. A send_recv has only the direct
/// one, an all_to_all has no tree.
[[nodiscard]] bool has_algorithm(Collective collective, Algorithm algorithm);

/// Returns the messages of a collective in rounds. Messages of one round are independent of each
/// other, except for additions to the same elements. `blocks`: number of elements of each member's
/// block.
/// - all_reduce, all_gather, reduce_scatter, broadcast, reduce: in place, as described at
///   `Collective`; the root is member 0.
/// - all_to_all: every input has the blocks in order; member j receives block j of member m at
///   element m·blocks[j].
/// - send_recv: the whole input goes to the next member; the member after the last one is member 0.
/// Throws std::invalid_argument without blocks or for an algorithm that the collective does not
/// have.
[[nodiscard]] std::vector<Messages> rounds_of(Collective collective, Algorithm algorithm,
                                              const std::vector<std::int64_t>& blocks);

/// Returns the number of elements of the array in which a member receives.
[[nodiscard]] std::int64_t received_elements(Collective collective,
                                             const std::vector<std::int64_t>& blocks, int member);

}  // namespace parbench
