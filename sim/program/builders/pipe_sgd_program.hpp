#pragma once
// Pipe-SGD: the gradients of an iteration are applied K iterations later, so that their exchange
// overlaps with K - 1 steps (TRN 4.6). In the steady state, without the iterations that warm up:
//
//     compute  S1 S2  S3  S4       K = 2
//     reduce      =X1= =X2=        X1 ends before S3
//
// Period: max(compute, exchange, (compute + exchange) / K).
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "program/builders/step_parts.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// Part of the backward, and the exchange of its gradients.
struct PipePiece {
  Seconds compute;
  ExchangeTime exchange;
};

// `before`: update, decoding, loading and forward of an iteration, which wait for the exchanges of
// `width` iterations ago, width >= 1. Marker: the last exchange.
[[nodiscard]] Program pipe_sgd_program(Seconds before, const std::vector<PipePiece>& pieces,
                                       std::int32_t width);

} // namespace stepsim::program
