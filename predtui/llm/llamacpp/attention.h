// Attention on a CPU for llama.cpp's flash attention over keys in F16 and values in BF16. llama.cmake has ggml's ops.cpp
// include it. Like ggml's own kernel for such a pair, and unlike its others, it goes over the cells that a token sees,
// in their order, whatever else is evaluated or stored beside them: a token's result is the same bit for bit. It is
// several times as fast, for the heads of a group read keys and values once, and nothing is rescaled on the way.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__) && defined(__F16C__))
#include <immintrin.h>

namespace predtui {

#if defined(__AVX512F__)
typedef __m512 lanes;
constexpr int WIDTH = 16, PARTS = 4;  // numbers of a vector, and vectors of values at a time
inline lanes zero() { return _mm512_setzero_ps(); }
inline lanes all(float x) { return _mm512_set1_ps(x); }
inline lanes load(const float * x) { return _mm512_loadu_ps(x); }
inline void store(float * y, lanes x) { _mm512_storeu_ps(y, x); }
inline lanes fma(lanes a, lanes b, lanes c) { return _mm512_fmadd_ps(a, b, c); }
inline __m256 folded(lanes x) {
    const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));
    return _mm256_add_ps(_mm512_castps512_ps256(x), high);
}
inline lanes from_f16(const uint16_t * x) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) x)); }
inline lanes from_bf16(const uint16_t * x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *) x)), 16));
}
#else
typedef __m256 lanes;
constexpr int WIDTH = 8, PARTS = 2;
inline lanes zero() { return _mm256_setzero_ps(); }
inline lanes all(float x) { return _mm256_set1_ps(x); }
inline lanes load(const float * x) { return _mm256_loadu_ps(x); }
inline void store(float * y, lanes x) { _mm256_storeu_ps(y, x); }
inline lanes fma(lanes a, lanes b, lanes c) { return _mm256_fmadd_ps(a, b, c); }
inline __m256 folded(lanes x) { return x; }
inline lanes from_f16(const uint16_t * x) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) x)); }
inline lanes from_bf16(const uint16_t * x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *) x)), 16));
}
#endif

constexpr uint16_t MASKED = 0xFC00;     // minus infinity in F16
constexpr int CELLS = 4;                // whose scores are computed at a time
constexpr int HEADS = PARTS;            // of a group, that are at most

// The sums of four vectors.
inline __m128 sums(const lanes (&x)[CELLS]) {
    const __m256 pairs = _mm256_hadd_ps(folded(x[0]), folded(x[1])), others = _mm256_hadd_ps(folded(x[2]), folded(x[3]));
    const __m256 quarters = _mm256_hadd_ps(pairs, others);
    return _mm_add_ps(_mm256_castps256_ps128(quarters), _mm256_extractf128_ps(quarters, 1));
}

struct Task {
    const float * queries[HEADS];  // of so many heads, width numbers each
    float * scores[HEADS];         // room for a number a cell, and CELLS more
    float * out[HEADS];            // out_width numbers
    const char * keys, * values;
    size_t key_stride, value_stride;
    const int32_t * seen;          // the cells, and CELLS more that repeat one of them
    int32_t cells;
    int64_t width, out_width;      // multiples of WIDTH
};

// The products of each query and the key of each cell.
template <int heads> inline void score(const Task & task) {
    for (int32_t first = 0; first < task.cells; first += CELLS) {
        lanes parts[heads][CELLS];
        const uint16_t * keys[CELLS];
        for (int cell = 0; cell < CELLS; ++cell) {
            keys[cell] = (const uint16_t *) (task.keys + task.seen[first + cell] * task.key_stride);
            for (int head = 0; head < heads; ++head) {
                parts[head][cell] = zero();
            }
        }
        for (int64_t i = 0; i < task.width; i += WIDTH) {
            for (int cell = 0; cell < CELLS; ++cell) {
                const lanes key = from_f16(keys[cell] + i);
                for (int head = 0; head < heads; ++head) {
                    parts[head][cell] = fma(load(task.queries[head] + i), key, parts[head][cell]);
                }
            }
        }
        for (int head = 0; head < heads; ++head) {
            _mm_storeu_ps(task.scores[head] + first, sums(parts[head]));
        }
    }
}

// From number i on, parts vectors of the values of all cells, each times its weight, and their sum times the scale.
template <int heads, int parts> inline void weigh(const Task & task, const float * scales, int64_t i) {
    lanes sum[heads][parts];
    for (int head = 0; head < heads; ++head) {
        for (int part = 0; part < parts; ++part) {
            sum[head][part] = zero();
        }
    }
    for (int32_t cell = 0; cell < task.cells; ++cell) {
        const uint16_t * value = (const uint16_t *) (task.values + task.seen[cell] * task.value_stride) + i;
        lanes numbers[parts];
        for (int part = 0; part < parts; ++part) {
            numbers[part] = from_bf16(value + part * WIDTH);
        }
        for (int head = 0; head < heads; ++head) {
            const lanes weight = all(task.scores[head][cell]);
            for (int part = 0; part < parts; ++part) {
                sum[head][part] = fma(numbers[part], weight, sum[head][part]);
            }
        }
    }
    for (int head = 0; head < heads; ++head) {
        for (int part = 0; part < parts; ++part) {
            store(task.out[head] + i + part * WIDTH, fma(sum[head][part], all(scales[head]), zero()));
        }
    }
}

// All of the task for so many heads. bias: of each cell, added to its scores.
template <int heads> inline void attend(const Task & task, const float * bias, float scale) {
    score<heads>(task);
    float scales[heads];
    for (int head = 0; head < heads; ++head) {
        float * scores = task.scores[head], largest = -INFINITY;
        for (int32_t cell = 0; cell < task.cells; ++cell) {
            scores[cell] = scores[cell] * scale + bias[cell];
            largest = scores[cell] > largest ? scores[cell] : largest;
        }
        const double total = task.cells ? ggml_vec_soft_max_f32(task.cells, scores, scores, largest) : 0.0;
        scales[head] = total == 0.0 ? 0.0f : (float) (1.0 / total);
    }
    int64_t i = 0;
    for (; i + PARTS * WIDTH <= task.out_width; i += PARTS * WIDTH) {
        weigh<heads, PARTS>(task, scales, i);
    }
    for (; i < task.out_width; i += WIDTH) {
        weigh<heads, 1>(task, scales, i);
    }
}

// What a thread does of the attention dst, where there are so many threads. False where it is of a kind that is left to
// ggml.
inline bool attention(ggml_tensor * dst, int thread, int threads) {
    const ggml_tensor * q = dst->src[0], * k = dst->src[1], * v = dst->src[2], * mask = dst->src[3];
    float options[3];  // scale, bias by position, cap
    memcpy(options, dst->op_params, sizeof(options));
    const int64_t tokens = q->ne[1], heads = q->ne[2], batches = q->ne[3], groups = k->ne[2], cells = k->ne[1];
    if (!mask || dst->src[4] || options[1] != 0.0f || options[2] != 0.0f || q->type != GGML_TYPE_F32 ||
        k->type != GGML_TYPE_F16 || v->type != GGML_TYPE_BF16 || mask->type != GGML_TYPE_F16 || mask->ne[2] != 1 ||
        v->ne[2] != groups || k->ne[0] % WIDTH || v->ne[0] % WIDTH) {
        return false;
    }
    static thread_local std::vector<int32_t> room_for_seen;
    static thread_local std::vector<float> room;
    room_for_seen.resize(cells + CELLS);
    room.resize((cells + CELLS) * (HEADS + 1));
    int32_t * const seen = room_for_seen.data();
    float * const bias = room.data() + (cells + CELLS) * HEADS;
    for (int64_t job = thread; job < batches * tokens; job += threads) {
        const int64_t token = job % tokens, batch = job / tokens;
        const uint16_t * masks =
            (const uint16_t *) ((const char *) mask->data + token * mask->nb[1] + batch % mask->ne[3] * mask->nb[3]);
        Task task;
        task.seen = seen;
        task.cells = 0;
        for (int64_t cell = 0; cell < cells; ++cell) {
            if (masks[cell] != MASKED) {
                seen[task.cells] = (int32_t) cell;
                bias[task.cells++] = masks[cell] ? ggml_fp16_to_fp32(masks[cell]) : 0.0f;
            }
        }
        for (int more = 0; more < CELLS; ++more) {
            seen[task.cells + more] = task.cells ? seen[0] : 0;
        }
        task.width = k->ne[0];
        task.out_width = v->ne[0];
        task.key_stride = k->nb[1];
        task.value_stride = v->nb[1];
        for (int64_t head = 0; head < heads;) {
            const int64_t group = head / (heads / groups), end = (group + 1) * (heads / groups);
            const int together = (int) (end - head < HEADS ? end - head : HEADS);
            task.keys = (const char *) k->data + group * k->nb[2] + batch / (batches / k->ne[3]) * k->nb[3];
            task.values = (const char *) v->data + group * v->nb[2] + batch / (batches / v->ne[3]) * v->nb[3];
            for (int one = 0; one < together; ++one, ++head) {
                task.queries[one] =
                    (const float *) ((const char *) q->data + token * q->nb[1] + head * q->nb[2] + batch * q->nb[3]);
                task.scores[one] = room.data() + (cells + CELLS) * one;
                task.out[one] = (float *) ((char *) dst->data + batch * dst->nb[3] + token * dst->nb[2] + head * dst->nb[1]);
            }
            switch (together) {
                case 1: attend<1>(task, bias, options[0]); break;
                case 2: attend<2>(task, bias, options[0]); break;
#if defined(__AVX512F__)
                case 3: attend<3>(task, bias, options[0]); break;
                default: attend<4>(task, bias, options[0]); break;
#endif
            }
        }
    }
    return true;
}

}  // namespace predtui

#else

namespace predtui {
inline bool attention(ggml_tensor *, int, int) { return false; }
}  // namespace predtui

#endif
