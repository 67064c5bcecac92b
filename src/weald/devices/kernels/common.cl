// What all kernels share. CODE: the type of a bin, uchar or ushort; LEAF: that of a leaf's number, uchar or int; GROUP: the work-items
// of a group, a power of two. A row's entry has its number in the high half and its packed gradient in the low half.
#pragma OPENCL FP_CONTRACT OFF

#define ROW(entry) ((size_t)((entry) >> 32))

// Add to a 64-bit number that is two words, the low one first. Sums of integers are the same in every order, carries included, so
// that no device needs 64-bit atomics for it.
void add_global(volatile __global uint *number, long value) {
    const uint low = (uint)value;
    const uint before = atomic_add(number, low);
    const uint high = (uint)((ulong)value >> 32) + (uint)(before + low < before);
    if (high != 0)
        atomic_add(number + 1, high);
}

void add_local(volatile __local uint *number, long value) {
    const uint low = (uint)value;
    const uint before = atomic_add(number, low);
    const uint high = (uint)((ulong)value >> 32) + (uint)(before + low < before);
    if (high != 0)
        atomic_add(number + 1, high);
}

long number_at(const volatile __local uint *number) {
    return (long)(((ulong)number[1] << 32) | number[0]);
}
