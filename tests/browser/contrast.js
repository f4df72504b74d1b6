/* The contrast of pairs of custom properties, as WCAG counts it: [text, ground, ratio]. */
pairs => {
  const probe = document.createElement("span");
  const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  document.body.append(probe);
  const light = property => {
    probe.style.color = "var(" + property + ")";
    paint.fillStyle = getComputedStyle(probe).color;
    paint.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...paint.getImageData(0, 0, 1, 1).data].map(value => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratios = pairs.map(([text, ground]) => {
    const [high, low] = [light(text), light(ground)].sort((a, b) => b - a);
    return [text, ground, (high + 0.05) / (low + 0.05)];
  });
  probe.remove();
  return ratios;
}
