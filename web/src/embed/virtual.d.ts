/** The code of the worker, with its WebAssembly. */
declare module 'virtual:worker' {
  const code: string;
  export default code;
}
