import { pageSetting } from '../parts/screen.tsx';

/**
 * Tells a page that embeds the console how high it is, whenever that changes, so that the frame needs no scroll bar of its
 * own: `{ type: 'hookrail:height', height }`, in pixels. Only pages of the origins that the operator has named hear it.
 */
export function tellHeight(place: HTMLElement): void {
  if (window.parent === window) return;
  document.documentElement.classList.add('framed');
  const named = pageSetting('frame-ancestors').split(' ').filter(Boolean);
  // Firefox does not say who embeds: it gets a message for each, of which it delivers one.
  const { ancestorOrigins } = location as Partial<Location>;
  const origins = named.filter((origin) => ancestorOrigins?.contains(origin) ?? true);
  new ResizeObserver(() => {
    const message = { type: 'hookrail:height', height: place.offsetHeight };
    if (message.height === 0) return;
    for (const origin of origins) window.parent.postMessage(message, origin);
  }).observe(place);
}
