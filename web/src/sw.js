// Caches the page for offline use. The build fills in the names between underscores.
const FILES = __FILES__;
const CACHE = `weighbridge-${__VERSION__}`;

addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' }))))
      .then(() => skipWaiting()),
  );
});

addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith('weighbridge-') && name !== CACHE).map((name) => caches.delete(name))))
      .then(() => clients.claim()),
  );
});

addEventListener('fetch', (event) => {
  const { request } = event;
  // Ignore requests to other servers.
  if (request.method !== 'GET' || new URL(request.url).origin !== location.origin) {
    return;
  }
  event.respondWith(
    caches
      .open(CACHE)
      .then((cache) => cache.match(request, { ignoreSearch: request.mode === 'navigate', ignoreVary: true }))
      .then((kept) => kept ?? fetch(request)),
  );
});
