import type { PlantedBug } from '../planted-bug.ts';

const RECEIVERS = 'test/docs/receivers-with-keys.test.ts';

/** The platform's own signature. */
export const PLATFORM_SIGNATURE_BUGS: readonly PlantedBug[] = [
  {
    id: 'next-key-signs-at-once',
    bug: 'a signing key signs from the moment it is made, before receivers know it',
    file: 'services/keys/key-schedule.ts',
    text: 'findLast(({ signsFrom }) => signsFrom <= at)',
    replacement: 'findLast(({ signsFrom }) => signsFrom <= at || at > 0)',
    test: 'test/keys/signing-keys.test.ts',
    title: 'is the last one whose time has come',
  },
  {
    id: 'sent-without-platform-signature',
    bug: 'a sender without a signing key sends what its endpoint’s receiver must refuse',
    file: 'services/sender/deliver.ts',
    text: "if (platformKey === null) return parked(task, heldTier(task), 'signing_key_missing', deps);\n  const { request, signature } = buildRequest(task, opened, at, label, platformKey);",
    replacement:
      'const { request, signature } = buildRequest(task, opened, at, label, platformKey ?? undefined);',
    test: 'test/guarantees/platform-signature.test.ts',
    title: 'deliveries are held, not sent with less',
  },
  {
    id: 'sample-content-with-either',
    bug: 'the Node receiver is content with the signature of the secret where it knows the platform’s keys',
    file: 'docs/receivers/receiver.mjs',
    text: '&& (!place || (await isOfPlatform(message, sent)))',
    replacement: '&& (!place || sent.length > 0 || (await isOfPlatform(message, sent)))',
    test: RECEIVERS,
    title: 'refuses what the secret alone has',
  },
];
