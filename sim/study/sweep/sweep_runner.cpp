#include "study/sweep/sweep.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

#include "study/sweep/sweep_point.hpp"

namespace stepsim::study {

namespace {

using Clock = std::chrono::steady_clock;

// Consecutive points of the shard, worked on by one thread and written at once.
struct Chunk {
  std::int64_t begin = 0, end = 0; // indices in the shard
  std::string lines;
  std::int64_t failed = 0, fitting = 0, judged = 0;
  std::string first_error;
  bool done = false;
};

// How many points to take at a time: about a millisecond of work, so that the counter and the
// window cost nothing while slow points still spread over the threads.
class ChunkSize {
public:
  [[nodiscard]] std::int64_t value() const { return size_; }
  void took(double seconds) {
    if (seconds < 1e-3 && size_ < kLargest) {
      size_ *= 2;
    } else if (seconds > 4e-3 && size_ > 1) {
      size_ /= 2;
    }
  }

private:
  static constexpr std::int64_t kLargest = 256;
  std::int64_t size_ = 1;
};

class Runner {
public:
  Runner(const Sweep& sweep, Files& files, const SweepOptions& options, const Records& records,
         SweepOutput& output, SweepReport& report)
      : sweep_(sweep), files_(files), options_(options), records_(records), output_(output),
        report_(report) {}

  // The points of the shard from index `first` on.
  void run(std::int64_t first) {
    next_ = written_ = first;
    if (options_.progress) {
      options_.progress(first, report_.points);
    }
    if (options_.jobs <= 1 || !run_threads()) {
      work([this] {
        if (options_.progress) {
          options_.progress(written_, report_.points);
        }
      });
    }
    report_.interrupted = report_.interrupted && next_ < report_.points;
  }

private:
  // No chunk begins after an interruption. Called with the mutex locked.
  void stop_if_asked() {
    if (!stopped_ && options_.interrupted && options_.interrupted()) {
      stopped_ = true;
      report_.interrupted = true;
      room_.notify_all();
    }
  }

  // How long it took, s.
  double compute(PointRunner& points, NumberTexts& numbers, Chunk& chunk) const {
    const auto begin = Clock::now();
    for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
      const std::int64_t point = options_.shard.point(i);
      const PointOutcome& outcome = points.run(point);
      records_.append(chunk.lines, point, outcome, numbers);
      if (!outcome.error.empty()) {
        ++chunk.failed;
        if (chunk.first_error.empty()) {
          chunk.first_error = outcome.error;
        }
      } else {
        chunk.fitting += outcome.summary.memory_fits.value_or(true) ? 1 : 0;
        chunk.judged += outcome.summary.memory_capacity_bytes ? 1 : 0;
      }
    }
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  void write(const Chunk& chunk) {
    output_.write(chunk.lines);
    report_.failed += chunk.failed;
    report_.fitting += chunk.fitting;
    report_.judged += chunk.judged;
    if (report_.first_error.empty()) {
      report_.first_error = chunk.first_error;
    }
  }

  // Takes the next chunk into the window, waiting for room; null when there is nothing left to do.
  Chunk* take(std::int64_t size) {
    std::unique_lock lock(mutex_);
    room_.wait(lock,
               [&] { return stopped_ || next_ >= report_.points || window_.size() < limit_; });
    stop_if_asked();
    if (stopped_ || next_ >= report_.points) {
      return nullptr;
    }
    Chunk& chunk = window_.emplace_back();
    if (!spare_.empty()) {
      chunk.lines = std::move(spare_.back().lines);
      chunk.lines.clear();
      spare_.pop_back();
    }
    chunk.begin = next_;
    chunk.end = next_ = std::min(next_ + size, report_.points);
    return &chunk;
  }

  // Writes the finished chunks at the front of the window. One thread at a time does so, right
  // after it has finished a chunk, which is then still in the cache of its processor. If writing
  // fails, `writing_` stays set and nothing more is written.
  void write_front(std::unique_lock<std::mutex>& lock) {
    while (!writing_ && !window_.empty() && window_.front().done) {
      writing_ = true;
      Chunk chunk = std::move(window_.front());
      window_.pop_front();
      lock.unlock();
      room_.notify_one();
      write(chunk);
      lock.lock();
      writing_ = false;
      written_ = chunk.end;
      spare_.push_back(std::move(chunk));
    }
  }

  // Takes, computes and writes chunks until none is left; `wrote` is called after each.
  void work(const std::function<void()>& wrote) {
    PointRunner points(sweep_, files_, options_.max_seconds);
    NumberTexts numbers;
    ChunkSize size;
    while (Chunk* chunk = take(size.value())) {
      size.took(compute(points, numbers, *chunk));
      std::unique_lock lock(mutex_);
      chunk->done = true;
      write_front(lock);
      lock.unlock();
      wrote();
    }
    const std::scoped_lock lock(mutex_);
    for (const auto& [text, count] : points.warnings()) {
      report_.warnings[text] += count;
    }
  }

  void work_in_thread(std::size_t index) {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return index >= allowed_ || begun_; });
      if (index >= allowed_) {
        return;
      }
    }
    or_stop([&] { work([] {}); });
    const std::scoped_lock lock(mutex_);
    --working_;
    ended_.notify_one();
    room_.notify_all();
  }

  // Keeps the first exception, after which all threads end.
  template <class Run> void or_stop(const Run& run) {
    try {
      run();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = failure_ ? failure_ : std::current_exception();
      stopped_ = true;
    }
  }

  // False if the system has no thread for it.
  [[nodiscard]] bool run_threads() {
    const std::int64_t first = next_;
    const auto jobs = static_cast<std::size_t>(
        std::min<std::int64_t>(options_.jobs, std::max<std::int64_t>(report_.points - next_, 1)));
    limit_ = 8 * jobs;
    std::vector<std::thread> threads;
    start_threads(threads, jobs);
    if (threads.empty()) {
      return false;
    }
    or_stop([&] { watch(first); });
    room_.notify_all();
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return true;
  }

  // Up to `jobs` threads, which begin together. Where the system has no room for all of them, the
  // last ones took what is missing for the work then: half of those that run end at once.
  void start_threads(std::vector<std::thread>& threads, std::size_t jobs) {
    allowed_ = jobs;
    try {
      threads.reserve(jobs);
      while (threads.size() < jobs) {
        threads.emplace_back([this, index = threads.size()] { work_in_thread(index); });
      }
    } catch (const std::system_error&) { // no more threads
    } catch (const std::bad_alloc&) {}
    const std::size_t allowed = threads.size() < jobs ? threads.size() / 2 : jobs;
    const auto tell = [&](bool begun) {
      {
        const std::scoped_lock lock(mutex_);
        allowed_ = working_ = allowed;
        begun_ = begun;
      }
      room_.notify_all();
    };
    tell(false);
    for (; threads.size() > allowed; threads.pop_back()) {
      threads.back().join();
    }
    report_.missing_threads = jobs - allowed;
    tell(true);
  }

  // Waits until every thread has ended; meanwhile asks for interruptions and tells the progress,
  // last told of which were `told` points.
  void watch(std::int64_t told) {
    constexpr std::chrono::milliseconds kTick{100};
    std::unique_lock lock(mutex_);
    for (bool ended = false; !ended;) {
      ended = ended_.wait_for(lock, kTick, [&] { return working_ == 0; });
      if (!ended) {
        stop_if_asked();
      }
      if (const std::int64_t written = written_; options_.progress && written > told) {
        told = written;
        lock.unlock();
        options_.progress(told, report_.points);
        lock.lock();
      }
    }
  }

  const Sweep& sweep_;
  Files& files_;
  const SweepOptions& options_;
  const Records& records_;
  SweepOutput& output_;
  SweepReport& report_;

  std::mutex mutex_; // guards all below
  std::condition_variable ended_, room_;
  std::int64_t next_ = 0, written_ = 0;
  bool writing_ = false;
  std::deque<Chunk> window_; // addresses of chunks stay while others come and go at the ends
  std::size_t limit_ = 1;
  std::size_t allowed_ = 0; // threads that work; the others end at once
  bool begun_ = false;
  std::size_t working_ = 0;
  bool stopped_ = false;
  std::vector<Chunk> spare_; // memory of written chunks
  std::exception_ptr failure_;
};

} // namespace

void run_points(const Sweep& sweep, Files& files, const SweepOptions& options,
                const Records& records, SweepOutput& output, std::int64_t first,
                SweepReport& report) {
  Runner(sweep, files, options, records, output, report).run(first);
}

} // namespace stepsim::study
