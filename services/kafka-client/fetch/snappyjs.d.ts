declare module 'snappyjs' {
  /** Decompresses one bare block. Throws when it is none, or says that it is longer than `maxLength`. */
  function uncompress(compressed: Uint8Array, maxLength?: number): Uint8Array;
  const snappy: { readonly uncompress: typeof uncompress };
  export default snappy;
}
