"""Capsules that no library makes: for tests of what is refused."""

import ctypes

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("number", ctypes.c_int32)]


class Element(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("dimensions", ctypes.c_int32),
        ("element", Element),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Capsule:
    """A capsule over an array's memory, of which ``changes`` are made. It counts how often its deleter is called."""

    def __init__(self, array, flags=0, major=1, name=b"dltensor_versioned", **changes):
        extents = changes.pop("shape", array.shape)
        self.deleted = 0
        self._array, self._name = array, name
        self._shape = (ctypes.c_int64 * len(extents))(*extents)
        tensor = Tensor(array.ctypes.data, Device(1, 0), len(extents), Element(2, 32, 1), self._shape, None, 0)
        for field, value in changes.items():
            setattr(tensor, field, value)
        self._managed = Versioned(major, 0, None, type(self)._deleter(self), flags, tensor)
        self.capsule = _new(ctypes.addressof(self._managed), name, None)

    def _deleter(self):
        def delete(_):
            self.deleted += 1

        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(delete)
