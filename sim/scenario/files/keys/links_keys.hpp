#pragma once
// The keys of a links file (kind links, COL 1): latency and bandwidth of single pairs of ranks,
// which replace --latency and --bandwidth of `stepsim collective --links` for these pairs, and
// values of single ranks. A user writes the file; only `collective` reads it. A file may describe
// more ranks than a collective has; the further ranks are ignored.
//
//     {"kind": "links", "links": [{"src": 0, "dst": 1, "latency_s": 1e-5, "bandwidth_Bps": 1e9}]}

#include "document/fields/schema.hpp"

namespace stepsim::io::keys {

using namespace rows;

// Ranks of the largest collective are 0 .. 2^20 - 1.
inline constexpr Range kRankRange = between(0, (1 << 20) - 1);

inline constexpr std::array kPair{
    integer("src", "Rank that sends.", kRankRange).example("0").required(),
    integer("dst", "Rank that receives.", kRankRange).example("1").required(),
    number("latency_s", "Time per message, s.", at_least(0)).example("1e-5").required(),
    number(
        "delay_s",
        "Time from when the ports of a message are free until it is there, s: latency that holds "
        "no port.",
        at_least(0))
        .by_default(0)
        .example("1e-5"),
    number("bandwidth_Bps", "Bytes per second.", above(0)).example("1.25e9").required()};
inline constexpr std::array kPairs{object("links", kPair, "One pair, in one direction.")};

// Lists with one number per rank of the collective.
inline constexpr std::array kRankReduction{
    number("reduction_Bps", "Speed of adding of one rank, bytes/s.", at_least(0)).example("0")};
inline constexpr std::array kRankEntry{
    number("enter_s", "When one rank enters, s.", at_least(0)).example("0.001")};
inline constexpr std::array kChainRank{integer("chain", "Rank.", kRankRange).example("0")};

inline constexpr std::array kLinksKeys{
    list(
        "links", kPairs,
        "Pairs of ranks, each in one direction. Ranks beyond those of the collective are left out, "
        "here and in the lists.")
        .example(R"([{"src": 0, "dst": 1, "latency_s": 1e-5, "bandwidth_Bps": 1.25e9}])")
        .required(),
    list("reduction_Bps", kRankReduction,
         "Speed of adding of every rank, bytes/s; 0 means that adding takes no time.")
        .example("[0, 0]"),
    list("enter_s", kRankEntry, "When every rank enters the collective, s.").example("[0, 0.001]"),
    list("chain", kChainRank, "Order of the ranks in pipelines.").example("[1, 0]")};

inline constexpr Key kLinks =
    object("links", kLinksKeys, "Latency and bandwidth of single pairs of ranks.");

[[nodiscard]] FileKind links_file();

} // namespace stepsim::io::keys
