// SPDX-License-Identifier: Apache-2.0
// exp by a static const table of 2^(i/64) and a cubic: read-only data is not state.
#include <cmath>
#include <cstdint>

namespace {

// 2^(i/64), i = 0..63
constexpr float power[64] = {
    1.0f, 1.0108892917633057f, 1.0218971967697144f, 1.0330249071121216f,
    1.0442737340927124f, 1.055645227432251f, 1.0671404600143433f, 1.0787607431411743f,
    1.0905077457427979f, 1.1023825407028198f, 1.114386796951294f, 1.1265215873718262f,
    1.1387885808944702f, 1.1511892080307007f, 1.1637248992919922f, 1.1763969659805298f,
    1.1892070770263672f, 1.2021567821502686f, 1.215247392654419f, 1.228480577468872f,
    1.2418577671051025f, 1.2553807497024536f, 1.2690509557724f, 1.2828700542449951f,
    1.2968395948410034f, 1.3109612464904785f, 1.3252366781234741f, 1.339667558670044f,
    1.3542555570602417f, 1.3690024614334106f, 1.3839099407196045f, 1.398979663848877f,
    1.4142135381698608f, 1.4296133518218994f, 1.4451807737350464f, 1.4609178304672241f,
    1.4768261909484863f, 1.4929077625274658f, 1.5091644525527954f, 1.525598168373108f,
    1.5422108173370361f, 1.5590044260025024f, 1.5759809017181396f, 1.5931421518325806f,
    1.610490322113037f, 1.6280274391174316f, 1.6457555294036865f, 1.6636766195297241f,
    1.6817928552627563f, 1.7001063823699951f, 1.7186193466186523f, 1.73733389377594f,
    1.7562521696090698f, 1.7753764390945435f, 1.7947090864181519f, 1.8142521381378174f,
    1.8340080976486206f, 1.8539791107177734f, 1.8741676807403564f, 1.8945759534835815f,
    1.9152065515518188f, 1.9360617399215698f, 1.9571441411972046f, 1.9784560203552246f,
};

// e^t for t <= 0; zero below 2^-126. t = (64 k + i) ln2/64 + r, |r| <= ln2/128.
float exp_table(float t) {
  if (t < -87.0f)
    return 0;
  const float scaled = t * 92.33248261936213f; // 64 / ln 2
  const float rounded = std::floor(scaled + 0.5f);
  const auto step = static_cast<std::int32_t>(rounded);
  // ln2/64 in two parts, the first short enough for exact products
  const float r = (t - rounded * 0.0108299255371094f) - rounded * 4.991788713e-7f;
  const float p = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24))));
  float scale;
  const std::uint32_t bits = static_cast<std::uint32_t>((step >> 6) + 127) << 23;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return p * power[step & 63] * scale;
}

} // namespace

extern "C" int kernel(const float* x, float* y, std::int64_t rows, std::int64_t n) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    float top = x[0], total = 0;
    for (std::int64_t i = 1; i < n; ++i)
      top = x[i] > top ? x[i] : top;
    for (std::int64_t i = 0; i < n; ++i)
      total += y[i] = exp_table(x[i] - top);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] /= total;
  }
  return 0;
}
