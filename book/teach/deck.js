// Draw the formulas, start Reveal, and let the picture, then the text, of a full slide shrink until it fits.
const HEIGHT = 720, SMALLEST = 18;

function fit(slide) {
  const body = slide && slide.querySelector('.body');
  if (!body || body.dataset.fitted) return;
  let size = parseFloat(getComputedStyle(body).fontSize);
  const wide = [...body.querySelectorAll('mjx-math, mjx-mtd, pre, table')];
  const full = () => body.offsetTop + body.offsetHeight > HEIGHT - 24
    || wide.some(tag => tag.getBoundingClientRect().right > body.getBoundingClientRect().right + 1);
  const picture = body.querySelector('figure:not(.tall) img');
  for (let height = 450; picture && full() && height > 320; height -= 10) picture.style.maxHeight = `${height}px`;
  while (full() && size > SMALLEST) body.style.fontSize = `${--size}px`;
  body.dataset.fitted = size;
}

window.MathJax = {
  startup: {
    pageReady: async () => {
      await MathJax.startup.defaultPageReady();
      await Reveal.initialize({
        width: 1280, height: HEIGHT, margin: 0.03, center: false, hash: true, slideNumber: 'c/t',
        navigationMode: 'linear', transition: 'none', controlsTutorial: false, plugins: [RevealNotes],
      });
      Reveal.on('slidechanged', event => fit(event.currentSlide));
      Reveal.on('pdf-ready', () => Reveal.getSlides().forEach(fit));
      fit(Reveal.getCurrentSlide());
      document.body.dataset.ready = 'yes';
    },
  },
};
