/** A failure that is tried again until it passes: reported once when it begins, and once when it has ended. */
export class Outage<About = void> {
  readonly #begins: (error: unknown, about: About) => void;
  readonly #ends: () => void;
  #isReported = false;

  /** `begins` gets the first failure and what it is about; the later ones are not reported. */
  constructor(begins: (error: unknown, about: About) => void, ends: () => void = () => {}) {
    this.#begins = begins;
    this.#ends = ends;
  }

  failed(error: unknown, about: About): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#begins(error, about);
  }

  succeeded(): void {
    if (!this.#isReported) return;
    this.#isReported = false;
    this.#ends();
  }
}
