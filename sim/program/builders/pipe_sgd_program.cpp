#include "program/builders/pipe_sgd_program.hpp"

#include <cstddef>

#include "program/program_draft.hpp"

namespace stepsim::program {

Program pipe_sgd_program(Seconds before, const std::vector<PipePiece>& pieces, std::int32_t width) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t reduce = draft.stream("reduce");
  const std::uint32_t start = draft.compute("A", compute, Kind::update, before);
  std::uint32_t exchange = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint32_t piece =
        draft.compute(operation_name("P", i), compute, Kind::backward, pieces[i].compute);
    exchange =
        add_exchange(draft, operation_name("X", i), reduce, Kind::allreduce, pieces[i].exchange, i);
    draft.wait(exchange, piece, 0);
    draft.wait(start, exchange, width);
    draft.applies(start, exchange, width);
  }
  return draft.finish(exchange);
}

} // namespace stepsim::program
