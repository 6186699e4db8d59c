/*
 * The colour of a utilization: viridis, even to the eye and readable by the colour-blind.
 */

const VIRIDIS = [
  "#440154", "#482878", "#3e4989", "#31688e", "#26828e",
  "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
].map((one) => [1, 3, 5].map((at) => Number.parseInt(one.slice(at, at + 2), 16)));

/** Red, green and blue of a utilization, 0 to 100 percent. */
export function shade(percent) {
  const at = (Math.min(100, Math.max(0, percent)) / 100) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(at));
  return VIRIDIS[low].map((part, one) => Math.round(part + (at - low) * (VIRIDIS[low + 1][one] - part)));
}

/** The same as CSS writes it. */
export function shadeText(percent) {
  return `rgb(${shade(percent).join(", ")})`;
}

/** Black or white, whichever is read better on a shade. */
export function inkOn([red, green, blue]) {
  const light = [red, green, blue].map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
  return luminance > 0.179 ? "#000000" : "#ffffff";
}
